"""Lets a failing case of the contract say what it found."""

import pytest

pytest.register_assert_rewrite("anew.stores.contract")
