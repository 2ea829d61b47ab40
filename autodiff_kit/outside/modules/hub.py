"""``torch.hub``, which the kit does not have."""

from autodiff_kit.outside import refuse_import

refuse_import(__name__)
