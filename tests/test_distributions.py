"""``torch.distributions`` beside PyTorch's: the same draws, probabilities and words."""

import pytest

import autodiff_kit
from tests.parity import require_torch
from tests.same_as_torch.outcomes import run

torch = require_torch()
pytestmark = pytest.mark.parity


@pytest.fixture(autouse=True)
def arguments_are_validated(monkeypatch: pytest.MonkeyPatch) -> None:
    """As PyTorch begins; torch.compile turns it off for the whole process."""
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", True)


GIVEN = """
from torch.distributions import Bernoulli, Categorical, Cauchy, Exponential, Geometric
from torch.distributions import Independent, Laplace, LogNormal, Normal, OneHotCategorical, Uniform
from torch.distributions import Multinomial, MultivariateNormal, kl_divergence
from torch.distributions import Beta, Chi2, Dirichlet, Gamma
from torch.distributions import Gumbel, HalfNormal, MixtureSameFamily, TransformedDistribution
from torch.distributions.transforms import AffineTransform, ComposeTransform, ExpTransform
from torch.distributions.transforms import SigmoidTransform, TanhTransform
import torch.distributions as D
torch.manual_seed(0)
t = lambda *values: torch.tensor(values)
"""

MADE = """
Normal(0.0, 1.0)
Normal(t(1.0, -2.0), t(0.5, 3.0))
LogNormal(t(0.1, 0.2), 0.5)
Laplace(t(1.0, 2.0), 0.7)
Cauchy(t(0.0, 1.0), t(1.0, 2.0))
Uniform(t(0.0, -1.0), 2.5)
Exponential(t(0.5, 2.0))
Bernoulli(t(0.3, 0.8))
Bernoulli(logits=t(0.3, -0.8))
Geometric(t(0.3, 0.8))
Geometric(logits=t(0.3))
Categorical(t(0.2, 0.3, 0.5))
Categorical(torch.ones(2, 4))
Categorical(logits=torch.arange(6.0).reshape(2, 3))
OneHotCategorical(torch.tensor([[0.2, 0.8, 1.0], [1.0, 1.0, 1.0]]))
Independent(Normal(torch.zeros(2, 3), torch.ones(3)), 1)
Gamma(t(0.3, 1.0, 7.0), 2.0)
Gamma(t(0.7, 90.0).double(), t(1.0, 0.1).double())
Chi2(t(0.5, 3.0))
Beta(t(0.3, 1.5, 7.0).double(), 0.9)
Beta(2.0, 3.0)
Dirichlet(torch.tensor([[0.5, 2.0, 3.0], [0.2, 0.3, 0.9]]))
""".strip().split("\n")


def same(program: str) -> None:
    """Check that both packages print the same and raise the same."""
    expected = run(torch, GIVEN + program)

    own = run(autodiff_kit, GIVEN.replace("torch.d", "autodiff_kit.d") + program)

    assert (own.printed, own.raised) == (expected.printed, expected.raised)
    assert expected.raised is None or "-> " in own.advice


@pytest.mark.parametrize("expression", MADE)
def test_draws_and_probabilities_are_pytorchs(expression: str) -> None:
    same(f"""
d = {expression}
print(d, d.batch_shape, d.event_shape, d.has_rsample)
print(d.mean, d.variance, d.stddev)
for shape in ((), (3,), (2, 20)):
    x = d.sample(shape)
    print(x, x.dtype, x.requires_grad)
    print(d.log_prob(x))
if not isinstance(d, Cauchy):
    print(d.entropy(), d.mode)
e = d.expand((2, *d.batch_shape))
print(e.batch_shape, e.sample().shape, e.log_prob(e.sample()).shape)
print(d.perplexity())
if d.has_rsample and not isinstance(d, (Beta, Dirichlet, Gamma, Independent)):
    x = d.rsample((2,))
    print(x, d.cdf(x), d.icdf(torch.tensor(0.3)))
if d.has_enumerate_support:
    print(d.enumerate_support(), d.enumerate_support(expand=False))
if hasattr(d, "logits"):
    print(d.probs, d.logits, getattr(d, "param_shape", None))
""")


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ("Normal(t(0.0, 1.0), 2.0)", "Normal(1.0, t(1.0, 3.0))"),
        ("LogNormal(0.0, 2.0)", "LogNormal(1.0, 1.0)"),
        ("Laplace(t(0.0, 1.0), 2.0)", "Laplace(1.0, t(1.0, 3.0))"),
        ("Bernoulli(t(0.3, 0.9))", "Bernoulli(0.5)"),
        ("Categorical(t(0.3, 0.0, 0.7))", "Categorical(t(0.5, 0.5, 0.0))"),
        ("OneHotCategorical(t(0.3, 0.7))", "OneHotCategorical(t(0.5, 0.5))"),
        ("Exponential(t(0.3, 2.0))", "Exponential(1.0)"),
        ("Uniform(0.0, t(1.0, 3.0))", "Uniform(0.0, 2.0)"),
        ("Geometric(t(0.3, 0.9))", "Geometric(0.5)"),
        ("Gamma(t(0.3, 2.0), 1.5)", "Gamma(1.0, t(0.5, 2.0))"),
        ("Gamma(t(0.3, 2.0), 1.5)", "Exponential(1.5)"),
        ("Beta(t(0.3, 2.0), 1.5)", "Beta(1.0, t(0.5, 2.0))"),
        ("Dirichlet(t(0.3, 2.0, 1.5))", "Dirichlet(t(0.5, 2.0, 0.1))"),
        (
            "Independent(Normal(torch.zeros(2, 3), 1.0), 1)",
            "Independent(Normal(torch.ones(2, 3), 2.0), 1)",
        ),
    ],
)
def test_divergences_are_pytorchs(p: str, q: str) -> None:
    same(f"print(kl_divergence({p}, {q}), D.kl_divergence({q}, {p}))")


def test_gradients_flow_through_draws_and_probabilities() -> None:
    same("""
for make in (Normal, Laplace, LogNormal, Cauchy):
    loc, scale = torch.zeros(3, requires_grad=True), torch.ones(3, requires_grad=True)
    d = make(loc, scale)
    d.rsample((4,)).pow(2).mean().backward()
    d.log_prob(d.sample()).sum().backward()
    print(loc.grad, scale.grad, d.sample().requires_grad)
logits = torch.zeros(2, 3, requires_grad=True)
policy = Categorical(logits=logits)
action = policy.sample()
loss = -(policy.log_prob(action) * torch.tensor([1.0, -2.0])).sum() - 0.1 * policy.entropy().sum()
loss.backward()
print(action, loss, logits.grad)
p = torch.tensor([0.2, 0.7], requires_grad=True)
d = Bernoulli(p)
(d.log_prob(d.sample()).sum() + d.entropy().sum()).backward()
print(p.grad)
""")


@pytest.mark.parametrize(
    "line",
    [
        "Normal(0.0, -1.0)",
        "Normal(torch.tensor(float('nan')), 1.0)",
        "Normal('a', 1.0)",
        "Uniform(2.0, 1.0)",
        "Exponential(0.0)",
        "Bernoulli(1.5)",
        "Bernoulli()",
        "Bernoulli(0.5, logits=0.0)",
        "Categorical(torch.tensor(1.0))",
        "Categorical(t(-1.0, 2.0))",
        "Categorical(t(0.5, 0.5)).log_prob(torch.tensor(2))",
        "Bernoulli(0.5).log_prob(torch.tensor(0.5))",
        "Gamma(0.0, 1.0)",
        "Gamma(1.0, 1.0).log_prob(-2.0)",
        "Beta(1.0, -1.0)",
        "Beta(1.0, 1.0).log_prob(torch.tensor(2.0))",
        "Dirichlet(torch.tensor(1.0))",
        "Dirichlet(t(1.0, 0.0))",
        "Dirichlet(t(1.0, 1.0)).log_prob(t(0.5, 0.1))",
        "Normal(torch.zeros(3), 1.0).log_prob(torch.zeros(2))",
        "Normal(0.0, 1.0).log_prob(1.0)",
        "Uniform(0.0, 1.0).log_prob(torch.tensor(2.0))",
        "Independent(Normal(0.0, 1.0), 1)",
        "kl_divergence(Normal(0.0, 1.0), Cauchy(0.0, 1.0))",
        "print(Normal(0.0, -1.0, validate_args=False))",
    ],
)
def test_distributions_refuse_in_pytorchs_words(line: str) -> None:
    same(line)


OF_VECTORS = """
MultivariateNormal(t(1.0, -2.0), torch.tensor([[2.0, 0.5], [0.5, 1.0]]))
MultivariateNormal(t(1.0, -2.0), precision_matrix=torch.tensor([[2.0, 0.5], [0.5, 1.0]]))
MultivariateNormal(torch.zeros(3, 2), scale_tril=torch.tensor([[1.0, 0.0], [0.5, 2.0]]))
Multinomial(7, t(0.2, 0.3, 0.5))
Multinomial(4, logits=torch.arange(6.0).reshape(2, 3))
""".strip().split("\n")


@pytest.mark.parametrize("expression", OF_VECTORS)
def test_draws_of_vectors_are_pytorchs(expression: str) -> None:
    same(f"""
d = {expression}
x = d.sample((2,))
print(d, d.batch_shape, d.event_shape, x, d.mean, d.variance, d.log_prob(x), d.entropy())
e = d.expand((4, *d.batch_shape))
print(e, e.log_prob(x[0]))
d.log_prob(x - float("inf"))
""")


@pytest.mark.parametrize(
    "program",
    [
        "MultivariateNormal(t(1.0), torch.eye(1), scale_tril=torch.eye(1))",
        "MultivariateNormal(torch.tensor(1.0), torch.eye(1))",
        "MultivariateNormal(t(1.0, 2.0), t(1.0, 2.0))",
        "MultivariateNormal(t(1.0, 2.0), scale_tril=t(1.0, 2.0))",
        "MultivariateNormal(t(1.0, 2.0), torch.tensor([[1.0, 2.0], [2.0, 1.0]]))",
        "MultivariateNormal(t(1.0, 2.0), scale_tril=torch.ones(2, 2))",
        "Multinomial(t(1.0), t(1.0, 2.0))",
        "Multinomial(3, t(1.0, 2.0)).log_prob(t(3.0, 1.0))",
    ],
)
def test_what_does_not_make_a_distribution_of_vectors_is_refused_alike(program: str) -> None:
    same(program)


@pytest.mark.parametrize(
    "pair",
    [
        "MultivariateNormal(t(1.0, -2.0), torch.tensor([[2.0, 0.5], [0.5, 1.0]])), "
        "MultivariateNormal(torch.zeros(3, 2), torch.eye(2))",
        "MultivariateNormal(t(1.0), torch.eye(1)), MultivariateNormal(t(1.0, 2.0), torch.eye(2))",
        "Cauchy(t(0.5, 1.0), 2.0), Cauchy(0.0, t(1.0, 3.0))",
        "Laplace(t(0.5, 1.0), 2.0), Normal(0.0, t(1.0, 3.0))",
        "Exponential(t(0.5, 1.0)), Normal(0.5, t(1.0, 3.0))",
        "Uniform(t(0.5, 1.0), 2.0), Normal(0.0, t(1.0, 3.0))",
        "Uniform(t(-0.5, 1.0), 2.0), Exponential(t(1.0, 3.0))",
        "Normal(0.0, t(1.0, 3.0)), Uniform(0.0, 1.0)",
    ],
)
def test_divergences_of_other_pairs_are_pytorchs(pair: str) -> None:
    same(f"print(kl_divergence({pair}))")


def test_a_divergence_of_ones_own_is_registered() -> None:
    same("""
class P(Normal): pass
@D.register_kl(P, P)
def divergence(p, q): return p.loc - q.loc
print(kl_divergence(P(2.0, 1.0), P(0.5, 1.0)))
""")


# PyTorch's slopes are approximations that are good to about 1e-3, the kit's are exact.
@pytest.mark.parametrize(
    "expression",
    ["Gamma(a, 2.0)", "Beta(a, 0.7)", "Beta(0.7, a)", "Dirichlet(torch.stack([a, a + 1, 2 * a]))"],
)
@pytest.mark.parametrize("size", [0.2, 1.0, 3.0, 30.0])
def test_gradients_of_draws_are_pytorchs(expression: str, size: float) -> None:
    slopes = []
    for package, setup in ((torch, GIVEN), (autodiff_kit, GIVEN)):
        name = package.__name__
        program = setup.replace("from torch", f"from {name}").replace(
            "import torch.", f"import {name}."
        )
        scope = {"torch": package}
        exec(
            f"""{program}
a = torch.linspace({size}, {2 * size}, 3, dtype=torch.float64, requires_grad=True)
draws = {expression}.rsample((20,))
(draws * torch.arange(draws.shape[-1]).add(1)).sum().backward()""",
            scope,
        )
        slopes.append(scope["a"].grad.tolist())

    assert slopes[1] == pytest.approx(slopes[0], rel=2e-3)


@pytest.mark.parametrize("expression", ["Gamma(a, 1.0)", "Dirichlet(a)"])
def test_draws_are_differentiated_once(expression: str) -> None:
    same(f"""
a = torch.tensor([0.5, 2.0], requires_grad=True)
torch.autograd.grad({expression}.rsample().pow(2).sum(), a, create_graph=True)[0].sum().backward()
""")


MIXTURE = "MixtureSameFamily(Categorical(t(0.2, 0.8)), Normal(t(-1.0, 2.0), t(0.5, 1.0)))"
OF_OTHERS = f"""
{MIXTURE}
MixtureSameFamily(Categorical(torch.ones(3, 2)), Normal(torch.arange(6.0).view(3, 2), 1.0))
MixtureSameFamily(Categorical(logits=t(1.0, 2.0)), Independent(Normal(torch.ones(2, 3), 1.0), 1))
TransformedDistribution(Normal(t(0.0, 1.0), 1.0), [TanhTransform(cache_size=1)])
TransformedDistribution(Normal(0.0, 1.0), ExpTransform())
TransformedDistribution(Normal(0.0, 1.0), [AffineTransform(t(1.0, 2.0), t(-2.0, 3.0))])
TransformedDistribution(Uniform(0.0, 1.0), [SigmoidTransform().inv, AffineTransform(1.0, 2.0)])
TransformedDistribution(Normal(0.0, 1), ComposeTransform([AffineTransform(1, 2), ExpTransform()]))
TransformedDistribution(Independent(Normal(torch.zeros(2), 1.0), 1), [SigmoidTransform()])
HalfNormal(t(1.0, 2.0))
Gumbel(t(0.0, 1.0), 2.0)
Gumbel(0.0, 1.0)
""".strip().split("\n")


@pytest.mark.parametrize("expression", OF_OTHERS)
def test_draws_of_mixtures_and_of_what_functions_make_are_pytorchs(expression: str) -> None:
    same(f"""
d = {expression}
print(d, d.batch_shape, d.event_shape, d.has_rsample)
for shape in ((), (2, 3)):
    x = d.sample(shape)
    print(x, x.dtype, x.requires_grad, d.log_prob(x))
if not isinstance(d, TransformedDistribution) or isinstance(d, (Gumbel, HalfNormal)):
    print(d.mean, d.variance)
if not d.event_shape:
    print(d.cdf(x))
if isinstance(d, TransformedDistribution) and not d.event_shape:
    print(d.icdf(torch.tensor(0.3)))
if isinstance(d, MixtureSameFamily):
    e = d.expand((4, *d.batch_shape))
    print(e.batch_shape, e.sample().shape)
if isinstance(d, (Gumbel, HalfNormal)):
    print(d.entropy(), d.mode, d.stddev)
""")


def test_gradients_flow_through_mixtures_and_functions() -> None:
    same("""
logits, means = torch.zeros(2, requires_grad=True), torch.tensor([-1.0, 2.0], requires_grad=True)
mixture = MixtureSameFamily(Categorical(logits=logits), Normal(means, 1.0))
(-mixture.log_prob(torch.linspace(-2, 3, 7)).mean()).backward()
print(logits.grad, means.grad)
loc, scale = torch.zeros(3, requires_grad=True), torch.ones(3, requires_grad=True)
policy = TransformedDistribution(Normal(loc, scale), [TanhTransform(cache_size=1)])
action = policy.rsample()
(policy.log_prob(action).sum() - action.sum()).backward()
print(action, loc.grad, scale.grad)
rate = torch.ones(2, requires_grad=True)
Gumbel(rate, rate).rsample((3,)).sum().backward()
HalfNormal(rate).rsample((3,)).sum().backward()
print(rate.grad)
""")


@pytest.mark.parametrize(
    "line",
    [
        "MixtureSameFamily(Normal(0.0, 1.0), Normal(0.0, 1.0))",
        "MixtureSameFamily(Categorical(t(0.5, 0.5)), 3)",
        "MixtureSameFamily(Categorical(t(0.5, 0.5)), Normal(t(0.0, 1.0, 2.0), 1.0))",
        "MixtureSameFamily(Categorical(torch.ones(3, 2)), Normal(torch.zeros(2, 2), 1.0))",
        f"{MIXTURE}.log_prob(1.0)",
        "TransformedDistribution(Normal(0.0, 1.0), 3)",
        "TransformedDistribution(Normal(0.0, 1.0), [3])",
        "HalfNormal(t(1.0)).log_prob(t(-1.0))",
    ],
)
def test_mixtures_and_functions_are_refused_in_pytorchs_words(line: str) -> None:
    same(line)
