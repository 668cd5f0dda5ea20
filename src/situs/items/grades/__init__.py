"""Questions for readers' grades."""
