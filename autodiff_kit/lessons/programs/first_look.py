import autodiff_kit as torch

x = torch.tensor(2.0, requires_grad=True)
z = 4 * (2 * x + 3) - 1
z.backward()
