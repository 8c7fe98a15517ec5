import type { ListedBranch } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { Paint } from '../terminal/output.ts'
import { textTable } from '../terminal/text-table.ts'
import { ageOf } from './session-table.ts'

/** Branches as lines of a table, each with its place in the list, by which it can be taken up too. */
export function branchTable(branches: readonly ListedBranch[], nowMs: number, paint: Paint): string {
  const head = ['INDEX', 'NAME', 'TURNS', 'MESSAGES', 'LEFT', 'DIFFERS AT']
  const rows = branches.map(({ name, turns, messages, at, differsAt }, index) => [
    String(index),
    escapeLine(name),
    String(turns),
    String(messages),
    ageOf(nowMs - Date.parse(at)),
    differsAt === null ? '–' : String(differsAt),
  ])
  return textTable(head, rows, paint)
}
