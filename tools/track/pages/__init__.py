"""From the Markdown that people write to the Markdown that MkDocs builds."""
