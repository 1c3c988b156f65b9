"""Access to language models: one client for any OpenAI-compatible endpoint, and the built-in local model."""
