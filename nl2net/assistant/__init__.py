"""From a question to an answer one may rely on: the ask loop, masking, the privacy gate and the store."""
