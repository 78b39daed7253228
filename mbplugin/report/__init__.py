"""Reports: the results of a run as text and pages for people, and as JSON and other formats for programs."""
