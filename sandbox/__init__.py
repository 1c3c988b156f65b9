"""The two walls between a generated program and the machine it runs on."""
