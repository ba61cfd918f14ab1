# SPDX-License-Identifier: Apache-2.0
"""A real Spark, started once for all tests of engines."""

from typing import Any

import pytest

from shoal.data.spark_session import guarded, spark_session


@pytest.fixture(scope="package")
def spark() -> Any:
    """Two cores, and a task that fails is tried again, as on a cluster."""
    with guarded(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.data.spark_session.MASTER", "local[2,4]")
        # for jobs that are over in no time, compiling them well takes longer than running them
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        from pyspark.sql import SparkSession

        if (left := SparkSession.getActiveSession()) is not None:  # by another test
            left.stop()
        session = spark_session()
    session.sparkContext.setLogLevel("OFF")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield session
    session.stop()
