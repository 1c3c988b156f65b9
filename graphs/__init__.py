"""From an operator's file to one normal form, a data-quality report and a schema."""
