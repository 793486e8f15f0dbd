//! The tool port of windlass: typed and erased tools, tool sets, workspace and process ports
