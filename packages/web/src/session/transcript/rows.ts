import type { Message, ModelFault, Usage } from '@holdfast/protocol'
import { openingOf, summarizeTurn, type TurnMessages } from './turns.ts'

/** A row of the transcript: a message, or the end of a turn. */
export type Row =
  | { readonly type: 'message'; readonly key: number; readonly message: Message; readonly isOpening: boolean }
  | {
      readonly type: 'end'
      readonly key: string
      readonly at: string | null
      readonly usage: Usage | null
      readonly fault: ModelFault | null
    }

const rowsOfTurns = new WeakMap<TurnMessages, readonly Row[]>()

/** Returns the rows of a turn: its messages, and its end once it is over. The same objects for the same turn. */
function rowsOfTurn(turn: TurnMessages): readonly Row[] {
  const known = rowsOfTurns.get(turn)
  if (known) return known
  const opening = openingOf(turn.messages)
  const rows: Row[] = turn.messages
    .filter(({ kind }) => kind !== 'usage') // shown at the end of the turn
    .map((message) => ({ type: 'message', key: message.id, message, isOpening: message === opening }))
  const { usage, fault } = summarizeTurn(turn.messages)
  const at = turn.messages.at(-1)?.at ?? null
  if (usage || fault) rows.push({ type: 'end', key: `end-${turn.turn}`, at, usage, fault })
  rowsOfTurns.set(turn, rows)
  return rows
}

/** Returns all rows. The end of the last turn is drawn with what streams, below the rows. */
export const rowsOf = (turns: readonly TurnMessages[]): readonly Row[] =>
  turns.flatMap((turn, index) => {
    const rows = rowsOfTurn(turn)
    return index === turns.length - 1 ? rows.filter(({ type }) => type === 'message') : rows
  })

const lineChars = 88
const linePx = 25

/** Guesses the height of a row that was not drawn yet. A good guess keeps the scrollbar still. */
export function estimatedPx(row: Row): number {
  if (row.type === 'end') return 34
  const { message } = row
  switch (message.kind) {
    case 'user':
      return 76 + (textLines(message.text) - 1) * linePx
    case 'assistant':
      return 16 + textLines(message.text) * linePx
    case 'tool_call':
      return message.collapsed ? 56 : 260
    default:
      return 40
  }
}

const estimatedCharsMax = 20_000

function textLines(text: string): number {
  const breaks = text.length > estimatedCharsMax ? 0 : (text.match(/\n/g)?.length ?? 0)
  return Math.max(1, Math.ceil(text.length / lineChars) + breaks / 2)
}

/** Returns the place of the prompt before or after a row, by which a person goes from turn to turn; -1 if there is none. */
export function promptFrom(rows: readonly Row[], from: number, step: 1 | -1): number {
  for (let index = from + step; index >= 0 && index < rows.length; index += step) {
    const row = rows[index]
    if (row?.type === 'message' && row.isOpening) return index
  }
  return -1
}
