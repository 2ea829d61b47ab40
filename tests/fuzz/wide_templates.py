"""Templates of the flavour "wide": what learners write less often, in the form of ``writing.py``.

Views of many kinds that are changed in place, ``out=``, hooks that change things, layers whose
weights are shared, functions of functions, and most other functions of the kit.
"""

from __future__ import annotations

__all__ = ["WIDE_TEMPLATES", "WIDE_WORDS"]

WIDE_TEMPLATES = {
    "wide_unary": """
        6 * {new} = {f}.{curve}()
        2 * {new} = torch.{curve}({x})
        2 * {new} = {x}.{question}()
        {new} = {x}.{triangle}({small})
        {new} = {x}.trace()
        {new} = {x}.diag()
        {new} = {f}.logit(0.1)
        {new} = {x}.nan_to_num({number})
        {new} = {x}.positive()
        {new} = {x}.round(decimals=1)
        {new} = torch.nn.{layer}()({f})
        2 * {new} = F.{activation}({f})
        {new} = F.normalize({f}, dim={dim})
    """,
    "wide_binary": """
        4 * {new} = {x}.{pair}({y})
        {new} = {x}.float_power({y})
        2 * {new} = torch.{pair}({x}, {y})
        {new} = {f}.lerp({same}, {number})
        {new} = {f}.lerp({same}, {same})
        {new} = torch.addcmul({x}, {y}, {x2}, value={number})
        {new} = torch.addcdiv({f}, {y}, {x2}, value={number})
        {new} = {x}.dist({x2})
        {new} = {x}.clamp({y}, {x2})
        {new} = {x}.fmod({number})
        {new} = {x}.inner({x2})
        {new} = torch.kron({x}, {y})
        {new} = F.cosine_similarity({f}, {same}, dim={dim})
        {new} = F.smooth_l1_loss({f}, {y}, beta=0.5)
        {new} = F.kl_div({f}, {same}, reduction={by})
        {new} = F.binary_cross_entropy_with_logits({f}, {same}, pos_weight=torch.tensor(2.))
        {new} = F.huber_loss({f}, {same}, delta=0.3)
        {new} = torch.where({x} > {y}, {x}, {number})
    """,
    "wide_reduce": """
        2 * {new} = {x}.{by_order}({dim})[0]
        {parts} = {x}.{by_order}({dim})
        {parts} = {x}.{by_order}({dim}, keepdim=True)
        {new} = {x}.median()
        {new} = {x}.{running}({dim})
        2 * {new} = {f}.{running}({dim})
        {parts} = {x}.{running_extreme}({dim})
        {parts} = {x}.aminmax(dim={dim})
        {new} = {f}.nansum({dim})
        {new} = {f}.nanmean({dim})
        {new} = {f}.quantile(0.4, {dim}) * 1
        {new} = {x}.diff(dim={dim})
        {new} = {x}.argsort({dim})
        {new} = {x}.kthvalue({small}, {dim})[0]
        {new} = {x}.count_nonzero({dim})
        {new} = {f}.std({dim}, correction={truth})
        {new} = {x}.prod({dim}, keepdim={truth})
        {new} = torch.linalg.norm({f})
        {new} = torch.linalg.vector_norm({f}, {norm}, {dim})
        {new} = {x}.sum(({dim},), keepdim={truth})
    """,
    "wide_view": """
        3 * {new} = {x}.mT
        2 * {new} = {x}.diagonal()
        2 * {new} = {x}.diagonal({small}, {dim}, {dim})
        2 * {new} = {x}.select({dim}, {small})
        2 * {new} = {x}.unfold({dim}, {small}, {small})
        2 * {new} = {x}.movedim({dim}, {dim})
        {new} = {x}.swapaxes({dim}, {dim})
        {new} = {x}.unflatten({dim}, ({factors_of},))
        {new} = {x}.view_as({x2})
        {new} = {x}.expand_as({y})
        {new} = torch.broadcast_to({x}, ({wider},))
        {parts} = torch.broadcast_tensors({x}, {y})
        {parts} = {x}.tensor_split({small}, {dim})
        {parts} = {x}.tensor_split([1, {small}], {dim})
        2 * {parts} = {x}.split([1, {small}], {dim})
        {parts} = {x}.hsplit({small})
        {parts} = torch.meshgrid({x}, {y}, indexing="ij")
        {new} = {x}.ravel()
        {new} = {x}.squeeze(({dim}, {dim}))
        {new} = {x}.as_strided(({small}, 2), (1, {small}))
        {new} = {x}.expand({wider})
        {new} = {x}.narrow_copy({dim}, {small}, {small})
        {new} = {x}.reshape_as({x2})
        {new} = {x}.T[{key}]
        {new} = {x}.mT.unsqueeze({dim})
        {new} = {x}[{key}].t()
        {new} = {x}.view(-1)[{small}:]
        {new} = {x}.unsqueeze({dim}).transpose({dim}, -1)
    """,
    "wide_move": """
        2 * {new} = {x}.index_put(({index},), {y}, accumulate={truth})
        {new} = {x}.index_put(({index}, {index}), torch.tensor({number}), accumulate=True)
        {new} = {x}.index_fill({dim}, {index}, {number})
        {new} = {x}.index_copy({dim}, {index}, {same})
        {new} = {x}.masked_scatter({x2} > 0, {same})
        {new} = {x}.scatter_add({dim}, {index}, {same})
        {new} = {x}.scatter_reduce({dim}, {index}, {same}, {reduce})
        {new} = {x}.take({index})
        {new} = {x}.take_along_dim({index}, {dim})
        {new} = {x}.roll({small}, {dim})
        {new} = {x}.rot90()
        {new} = {x}.tile(({small}, {small}))
        {new} = {x}.repeat_interleave({small}, {dim})
        {new} = {x}.diag_embed()
        {new} = torch.vstack([{x}, {same}])
        {new} = torch.hstack([{x}, {same}])
        {new} = F.pad({x}, ({small}, {small}))
        {new} = torch.cat([{x}, {x}, {same}], {dim})
        {new} = torch.cat(({x}[{key}], {x}))
        {new} = F.embedding({index}, {f})
        {new} = torch.bmm({x}, {same}.mT)
        {new} = F.conv1d({f}.reshape(1, 1, -1), torch.ones(1, 1, 2))
    """,
    "wide_in_place": """
        4 * {x}.{curve}_()
        4 * {x}.{pair}_({y})
        {x}.t_()
        {x}.unsqueeze_({dim})
        {x}.squeeze_()
        {x}.transpose_({dim}, {dim})
        2 * {x}.index_put_(({index},), {y}, accumulate={truth})
        {x}.index_fill_({dim}, {index}, {number})
        {x}.index_copy_({dim}, {index}, {same})
        {x}.masked_scatter_({x2} > 0, {same})
        {x}.scatter_add_({dim}, {index}, {same})
        {x}.scatter_reduce_({dim}, {index}, {same}, {reduce})
        {x}.fill_diagonal_({number})
        {x}.{triangle}_({small})
        {x}.lerp_({same}, {number})
        {x}.addcmul_({y}, {x2}, value={number})
        {x}.addcdiv_({y}, {x2})
        {x}.cumprod_({dim})
        {x}.clamp_(min={y})
        {x}.nan_to_num_()
        {x}.logical_not_()
        {x}.{order_}_({y})
        F.relu({x}, inplace=True)
        F.leaky_relu_({x}, {number})
        torch.relu_({x})
        F.dropout({x}, 0.5, inplace=True)
        {x}.addmm_({x2}, {right})
    """,
    "chains": """
        4 * {x}.mT[{small}].{binary_}({number})
        3 * {x}[{key}][{small}].{unary_}()
        2 * {x}.unbind()[{small}].{binary_}({number})
        2 * {x}.split({small})[0].{unary_}()
        2 * {x}.chunk(2, {dim})[{small}].{binary_}({number})
        3 * {x}.expand({wider}).{binary_}({number})
        2 * {x}.unsqueeze({dim}).expand_as({y}).{binary_}({number})
        3 * {x}.diagonal().{binary_}({number})
        2 * {x}.diagonal().copy_({y})
        2 * {x}.select({dim}, {small}).{binary_}({y})
        2 * {x}.unfold({dim}, 2, 2).{binary_}({number})
        3 * {x}.detach()[{key}].{binary_}({number})
        2 * {x}.data[{key}].{unary_}()
        2 * {x}.view(-1)[{small}:].{binary_}({number})
        2 * {x}.T[{key}] = {number}
        2 * {x}.mT[{key}] = {y}
        2 * {x}.view(-1)[{small}] = {number}
        2 * {x}[{key}][{small}] {sign}= {number}
        2 * {x}[{key}].t()[{small}] = {number}
        2 * {x}.diagonal()[:] = {number}
        2 * {x}.diagonal()[{small}] {sign}= {number}
        2 * with torch.no_grad():\\n    {x}[{key}].{binary_}({number})
        2 * with torch.no_grad():\\n    {x}.view(-1)[{small}] = {number}
        2 * with torch.no_grad():\\n    {new} = {x}[{key}]\\n    {x}.{binary_}({number})
        with torch.no_grad():\\n    {new} = {x}.t()\\n    {x} = {x}.{binary_}({y})
        2 * with torch.no_grad():\\n    {leaf} -= 0.1 * {leaf}.grad
        2 * with torch.no_grad():\\n    {leaf}.copy_({same})
        for row in {x}:\\n    row.{binary_}({number})
        for row in {x}.unbind():\\n    row {sign}= {number}
        for i, row in enumerate({x}):\\n    {x2}[i] = row * {number}
        {x}[{odd_key}] {sign}= {number}
        {x}[{odd_key}] {sign}= {y}
        {x}[{key}], {x}[{small}] = {x}[{small}].clone(), {x}[{key}]
        {leaf}.data.copy_({same})
        {leaf}.data = {same}.clone()
        {leaf}.data {sign}= {number}
    """,
    "out": """
        3 * torch.add({x}, {x2}, out={same})
        2 * torch.mul({x}, {x2}, out={same})
        2 * torch.mul({x}.detach(), {x2}.detach(), out={same})
        2 * {new} = torch.sub({x}.detach(), {number}, out={x2})
        torch.exp({x}.detach(), out={same})
        torch.maximum({x}.detach(), {x2}.detach(), out={same})
        with torch.no_grad():\\n    torch.add({x}, {x2}, out={same})
    """,
    "more_hooks": """
        2 * {g}.register_hook(hook("{letter}", lambda g: g.detach()))
        2 * {g}.register_hook(hook("{letter}", lambda g: g.clone().zero_()))
        {g}.register_hook(hook("{letter}", lambda g: g.sum()))
        {g}.register_hook(hook("{letter}", lambda g: 2))
        {g}.register_hook(hook("{letter}", lambda g: g.double()))
        {g}.register_hook(lambda g: {y}.mul_(2) and None)
        {g}.register_hook(lambda g: log.append({x2}.grad is None))
        {g}.register_hook(lambda g: {leaf}.data.mul_(2) and None)
        {g}.register_hook(lambda g: g.t().contiguous().t() * {number})
        {g}.register_hook(lambda g: torch.where(g > 0, g, {number}))
        {g}.register_hook(hook("{letter}", lambda g: g * {g2}))
        {g}.retain_grad(); {g2}.retain_grad()
        2 * {new} = {g}[{key}]; {g2}.retain_grad()
        {leaf}.register_post_accumulate_grad_hook(lambda p: p.data.sub_(0.1 * p.grad) and None)
        {leaf}.register_post_accumulate_grad_hook(lambda p: p.grad.zero_() and None)
        {h} = {leaf}.register_post_accumulate_grad_hook(lambda p: log.append(p.grad.tolist()))
        {node}.grad_fn.register_hook(hook("{letter}", lambda i, o: None))
        {node}.grad_fn.register_prehook(hook("{letter}", lambda o: (None,) * len(o)))
    """,
    "shared_layers": """
        3 * {parts} = list(torch.nn.Linear({last}, {width}).parameters())
        2 * {new} = (lambda m, v: m(m(v)))(torch.nn.Linear({last}, {width}), {it})
        2 * {new} = F.linear(F.linear({f}, {right}), {right})
        {new} = torch.nn.LayerNorm({last})({it})
        {new} = torch.nn.GRUCell({last}, 2)({it})
        {new} = torch.nn.RNN({last}, 2)({it})[0]
        {new} = torch.nn.Softmax(-1)({f})
        {new} = torch.nn.Dropout(0.3)({f})
        {new} = torch.nn.CrossEntropyLoss(label_smoothing=0.1)({f}, {classes})
        {new} = F.cross_entropy({f}, {classes}, reduction={by})
        {new} = torch.nn.BatchNorm1d({last})({it})
        {new} = torch.func.functional_call(torch.nn.Linear({last}, {width}), {"weight": {right}}, ({it},))
        torch.optim.AdamW([{leaf}], lr=0.1, weight_decay=0.5).step()
        torch.optim.RMSprop([{leaf}], lr=0.1).step()
        torch.optim.SGD([{leaf}], lr=0.1).zero_grad()
        {new} = torch.nn.utils.parameters_to_vector([{f}, {same}])
    """,  # noqa: E501
    "transforms": """
        3 * {new} = torch.func.grad(lambda v: ({body}).sum())({f}) * 1
        2 * {new} = torch.func.grad(lambda v, u: ({body} * u).sum())({f}, {same}) * 1
        2 * {parts} = torch.func.grad(lambda v, u: ({body} * u).sum(), (0, 1))({f}, {same})
        2 * {new} = torch.func.grad(lambda v: torch.func.grad(lambda u: (u ** 3).sum())(v).sum())({f}) * 1
        2 * {new} = torch.func.vmap(lambda v: {body})({f}) * 1
        2 * {new} = torch.func.vmap(torch.func.grad(lambda v: ({body}).sum()))({f}) * 1
        {new} = torch.func.vmap(lambda v, u: {body} * u, (0, None))({f}, {number}) * 1
        {new} = torch.func.jacrev(lambda v: {body})({f}).contiguous() * 1
        {new} = torch.func.jacfwd(lambda v: {body})({f}.detach()).contiguous() * 1
        {new} = torch.func.hessian(lambda v: ({body}).sum())({f}.detach()).contiguous() * 1
        {parts} = torch.func.vjp(lambda v: {body}, {f})[1]({same})
        {new} = torch.func.jvp(lambda v: {body}, ({f},), ({same},))[1] * 1
        {parts} = torch.func.grad_and_value(lambda v: ({body}).sum())({f})
        {new} = torch.autograd.functional.hessian(lambda v: ({body}).sum(), {f})
        {new} = torch.autograd.functional.jacobian(lambda v: {body}, {f}, create_graph=True)
        {new} = checkpoint(lambda v: {body}, {f}, use_reentrant=False)
        {new}, = torch.autograd.grad(({g} ** 2).sum(), {leaf}, create_graph=True)
        2 * {new}, = torch.autograd.grad({g}.{smooth}().sum(), {g2}, create_graph=True)
    """,  # noqa: E501
}
WIDE_WORDS: dict[str, list[str]] = {
    "curve": [
        *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "deg2rad", "erf"),
        *("erfc", "exp2", "frac", "log10", "log2", "rad2deg", "sgn", "sinc", "trunc", "logit"),
        *("nan_to_num", "sigmoid", "relu", "square"),
    ],
    "question": ["isfinite", "isinf", "isposinf", "signbit", "logical_not", "nonzero", "unique"],
    "triangle": ["tril", "triu"],
    "pair": [
        *("atan2", "copysign", "fmax", "fmin", "fmod", "hypot", "logaddexp", "logaddexp2"),
        *("xlogy", "ldexp", "true_divide", "heaviside", "multiply", "logical_and"),
    ],
    "order_": ["eq", "lt", "ge", "logical_or", "ne"],
    "by_order": ["median", "mode", "max", "min"],
    "running": ["cumprod", "logcumsumexp", "cumsum"],
    "running_extreme": ["cummax", "cummin"],
    "reduce": ['"sum"', '"prod"', '"mean"', '"amax"', '"amin"'],
    "layer": ["ReLU", "Tanh", "Sigmoid", "GELU", "ELU", "SiLU", "Softplus", "LeakyReLU", "ReLU6"],
    "activation": [
        *("elu", "selu", "celu", "silu", "mish", "hardtanh", "hardswish", "hardsigmoid"),
        *("logsigmoid", "softsign", "tanhshrink", "softshrink", "hardshrink", "relu6", "rrelu"),
    ],
    "body": [
        *("v.sin()", "v * v", "v.exp() * 2", "v ** 3", "v.tanh() + v", "v / (v * v + 1)"),
        *("v.clone().mul_(v)", "v.relu()", "v * v.sum()", "v.abs()", "v.sigmoid()"),
    ],
}
