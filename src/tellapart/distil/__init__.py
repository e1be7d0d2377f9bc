"""A language model as a teacher: its client, the ledger of its requests, and how it is asked."""

from tellapart.distil.distillation import Distillation
from tellapart.distil.endpoint import Endpoint
from tellapart.distil.ledger import KeptLedger, Ledger
from tellapart.distil.model_teacher import Model

__all__ = ["Distillation", "Endpoint", "KeptLedger", "Ledger", "Model"]
