# L11: imports PyTorch by the machinery that searches directories
# says: torch
import importlib.machinery
import importlib.util
import sys


def double(x):
    spec = importlib.machinery.PathFinder.find_spec("torch")
    torch = importlib.util.module_from_spec(spec)
    sys.modules["torch"] = torch
    spec.loader.exec_module(torch)
    return (2 * torch.tensor(x.tolist())).numpy()
