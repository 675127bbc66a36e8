"""Speed against peers and papers reproduced: each module is one command."""
