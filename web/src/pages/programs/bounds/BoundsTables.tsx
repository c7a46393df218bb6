// The worst case task by task, for each thing that is called, and along the longest path.

import type { ReactNode } from "react";

import type { ProgramShown } from "../../../api/types";
import { LineLink } from "./LineLink";
import { amountText, taskName, timeText, type BoundsReport } from "./report";
import { Table } from "./Table";

const ROWS_SHOWN = 200;

interface BoundsTablesProps {
  program: ProgramShown;
  report: BoundsReport;
}

export function BoundsTables({ program, report }: BoundsTablesProps): ReactNode {
  const { tasks, dependencies, path } = report;
  return (
    <>
      <Table
        title="Each task"
        heads={["task", "kind", "executions", "attempts", "waits", "in all", "timeout", "where"]}
        numbers={[2, 3, 4, 5, 6]}
        note={
          tasks.some((task) => task.timeout_is_default)
            ? "* the document gives no timeout; it is that of the tool"
            : ""
        }
        rows={tasks
          .slice(0, ROWS_SHOWN)
          .map((task) => [
            taskName(task),
            task.kind,
            amountText(task.in_run),
            amountText(task.per_step_run),
            timeText(task.waits_seconds),
            timeText(task.total_seconds),
            timeoutText(task),
            <LineLink key="where" program={program} place={task} />,
          ])}
        more={tasks.length - ROWS_SHOWN}
      />
      <Table
        title="What is called"
        heads={["kind", "name", "executions", "by"]}
        numbers={[2]}
        rows={dependencies
          .slice(0, ROWS_SHOWN)
          .map((one) => [one.kind, one.name, amountText(one.executions), one.tasks.join(", ")])}
        more={dependencies.length - ROWS_SHOWN}
      />
      <Table
        title="The longest path"
        heads={["step", "ends", "executions", "waits", "in all"]}
        numbers={[3, 4]}
        rows={path
          .slice(0, ROWS_SHOWN)
          .map((one) => [
            one.again === null ? one.step : `${one.step} (again and again)`,
            one.ends,
            one.tasks.map((task) => `${task.task} × ${amountText(task.executions)}`).join(", "),
            timeText(one.waits_seconds),
            timeText(one.total_seconds),
          ])}
        more={path.length - ROWS_SHOWN}
      />
    </>
  );
}

function timeoutText(task: BoundsReport["tasks"][number]): string {
  if (task.timeout_seconds === null) return "none";
  const time = timeText({ bounded: true, at_most: task.timeout_seconds });
  return task.timeout_is_default ? `${time} *` : time;
}
