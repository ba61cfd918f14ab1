# SPDX-License-Identifier: Apache-2.0
"""Every table and figure of the papers as an experiment that anyone can run: ``shoal papers``.

An **experiment** is one file ``experiments/ID.toml``. It says what is measured, on what, and what the paper prints:

.. code-block:: toml

    paper = "vldb08"                 # a paper of `shoal.papers.experiment.PAPERS`
    place = "Table 6"                # where it stands there
    title = "Classification metric beside K-Optimize"
    claim = "One line for `shoal papers list`, in our own words."
    data = ["adult", "adult-taxonomies"]          # names in manifest.toml
    split = "The complete training rows; nothing is held out."
    seeds = "None: nothing is drawn."
    recipe = "adult-trees"           # who measures: a recipe of recipes/*.py
    notes = ["What differs from the paper, and what explains it."]

    [parameters]                     # whatever the recipe reads
    k = [10, 25, 50, 100]

    [quick]                          # parameters that take the place of those above with --quick
    k = [10, 100]

    [plot]                           # how points are shown
    x = "k"                          # words for the axes
    y = "classification metric"
    log = true                       # x on a logarithmic scale; default false
    decimals = 0                     # of numbers in tables; default 2
    table = false                    # true: tables only, no picture
    undrawn = []                     # panels that are told in tables only

    [[published]]                    # as many as there are series
    place = "Table 6, third column"
    series = "Anonymous-DT"          # the names that the recipe gives its points
    panel = ""                       # of small multiples; default ""
    x = [10, 25, 50, 100]            # numbers or words
    value = [5198, 5273, 5379, 5439]
    tolerance = 0                    # how far ours may be; absolute. Left out: only shown beside ours
    within = "both"                  # "below": only being lower counts against us; "above": only being higher

    [[claims]]
    says = "The tree takes less time than K-Optimize."
    place = "Sect. 6.2"
    check = "order"                  # a check of claims/*.py
    series = ["K-Optimize", "Anonymous-DT"]  # everything else is handed to the check
    otherwise = "What explains it where it does not hold."

A **recipe** (``recipes/*.py``) is a class with `units(parameters)`, `measure(options, data)` and `points(parameters,
measured)`, entered under a name by `@recipe("name")`: see `shoal.papers.registry.Recipe`. Units are declarations of
plain values. They run in processes of their own, in any order, and are kept by content: two experiments that ask for
the same unit of the same recipe share its result. A unit should take from a second to a few minutes.

A **check** (``claims/*.py``) is a function of points entered by `@check("name")`: see `shoal.papers.registry.Outcome`.
It returns `holds(...)`, `fails(...)` or `depends(...)` with one sentence that has the numbers, or `unmeasured()`.
`claims/common.py` has those for most claims.

All modules of both folders are found by themselves, so that adding an experiment is adding one file.
"""
