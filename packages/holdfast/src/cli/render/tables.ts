import type { ListedBranch, Meta, SessionList, TouchedFile } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { CliContext } from '../terminal/cli-context.ts'
import type { Output } from '../terminal/output.ts'
import { cellWidth, cutCells } from '../tui/term/cell-width.ts'
import { formatTime } from './local-time.ts'
import { textTable } from './text-table.ts'

type TableOutput = Pick<Output, 'paint' | 'columns'>

const titleColumnsMax = 48

/**
 * Formats a list of sessions. A star marks pinned ones; `waiting` is a session with a call that waits for an approval.
 * `hasTimes` shows the time of the last message in UTC in place of its age.
 */
export function sessionTable(sessions: readonly Meta[], nowMs: number, output: TableOutput, hasTimes = false): string {
  const heading = ['HANDLE', 'TITLE', 'STATUS', hasTimes ? 'LAST MESSAGE' : 'AGE', 'MESSAGES', 'MODEL']
  const rows = sessions.map(({ handle, title, status, waiting, lastMessageAt, messageCount, model, pinned }) => [
    handle,
    shorten(`${pinned ? '* ' : ''}${escapeLine(title)}`),
    waiting === undefined ? status : 'waiting',
    hasTimes ? formatTime(lastMessageAt, true) : formatAge(nowMs - Date.parse(lastMessageAt)),
    String(messageCount),
    escapeLine(model),
  ])
  return textTable(heading, rows, output)
}

/** Prints a list of sessions, or `none` if it is empty. */
export async function printList(
  list: SessionList,
  isJson: boolean,
  none: string,
  context: CliContext,
  hasTimes = false,
): Promise<void> {
  const { out, err, now } = context
  const { sessions, next } = list
  if (isJson) return out.writeJson(list)
  if (sessions.length > 0) await out.write(sessionTable(sessions, now(), out, hasTimes))
  else await err.tell(none)
  if (next !== null) await err.tell('There are more. Use --limit to list them.')
}

/** Formats a list of branches. `switch` accepts their index too. */
export function branchTable(branches: readonly ListedBranch[], nowMs: number, output: TableOutput): string {
  const heading = ['INDEX', 'NAME', 'TURNS', 'MESSAGES', 'SAVED', 'DIFFERS AT']
  const rows = branches.map(({ name, turns, messages, at, differsAt }, index) => [
    String(index),
    escapeLine(name),
    String(turns),
    String(messages),
    formatAge(nowMs - Date.parse(at)),
    differsAt === null ? '–' : String(differsAt),
  ])
  return textTable(heading, rows, output)
}

/** Formats a list of changed files, each with its newest change. */
export function fileTable(files: readonly TouchedFile[], nowMs: number, output: TableOutput): string {
  const rows = files.map((file) => [file.action, formatAge(nowMs - Date.parse(file.at)), nameOf(file)])
  return textTable(['CHANGE', 'AGE', 'FILE'], rows, output)
}

const nameOf = ({ path, from, during, child }: TouchedFile): string =>
  [
    ...(from === undefined ? [] : [escapeLine(from), '→']),
    escapeLine(path),
    ...(during ? ['(while a command ran in the background)'] : []),
    ...(child === undefined ? [] : ['(by a subagent)']),
  ].join(' ')

const units = [
  ['y', 365 * 24 * 3600],
  ['w', 7 * 24 * 3600],
  ['d', 24 * 3600],
  ['h', 3600],
  ['m', 60],
] as const

/** Formats a count with its noun: `1 session`, `2 sessions`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Formats a duration in the largest unit that fits. */
export function formatAge(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const unit = units.find(([, length]) => seconds >= length)
  return unit === undefined ? 'now' : `${Math.floor(seconds / unit[1])}${unit[0]}`
}

/** Cuts a title between characters. */
const shorten = (text: string): string =>
  cellWidth(text) <= titleColumnsMax ? text : `${cutCells(text, titleColumnsMax - 1)}…`
