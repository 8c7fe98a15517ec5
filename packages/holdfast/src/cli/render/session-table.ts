import type { Meta } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { Paint } from '../terminal/output.ts'
import { textTable } from '../terminal/text-table.ts'

const titleCharsMax = 48

/** Sessions as lines of a table, with a head. A star marks what is pinned. */
export function sessionTable(sessions: readonly Meta[], nowMs: number, paint: Paint): string {
  const head = ['HANDLE', 'TITLE', 'STATUS', 'AGE', 'MESSAGES', 'MODEL']
  const rows = sessions.map(({ handle, title, status, lastMessageAt, messageCount, model, pinned }) => [
    handle,
    short(`${pinned ? '* ' : ''}${escapeLine(title)}`),
    status,
    ageOf(nowMs - Date.parse(lastMessageAt)),
    String(messageCount),
    escapeLine(model),
  ])
  return textTable(head, rows, paint)
}

const units = [
  ['y', 365 * 24 * 3600],
  ['w', 7 * 24 * 3600],
  ['d', 24 * 3600],
  ['h', 3600],
  ['m', 60],
] as const

/** How long ago, in the largest unit that fits. */
export function ageOf(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const unit = units.find(([, length]) => seconds >= length)
  return unit === undefined ? 'now' : `${Math.floor(seconds / unit[1])}${unit[0]}`
}

/** In code points, so that a cut never falls inside one. */
function short(text: string): string {
  const characters = [...text]
  return characters.length <= titleCharsMax ? text : `${characters.slice(0, titleCharsMax - 1).join('')}…`
}
