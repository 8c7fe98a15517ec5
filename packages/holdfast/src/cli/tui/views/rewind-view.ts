import type { Message } from '@holdfast/protocol'
import { oneLineText } from '../render/format.ts'
import { cutLine, line, type StyledLine, span, styles } from '../term/lines.ts'
import type { FullView, ViewHost } from './full-view.ts'
import { createListView } from './list-view.ts'

/** A turn to go back before, with the prompt that began it. */
export type RewindRow = { readonly turn: number; readonly prompt: string; readonly at: string }

/** Returns the turns of the loaded messages, newest first. */
export function rewindRows(messages: readonly Message[]): readonly RewindRow[] {
  const rows: RewindRow[] = []
  for (const message of messages)
    if (message.kind === 'user' && !message.child && rows.at(-1)?.turn !== message.turn)
      rows.push({ turn: message.turn, prompt: message.text, at: message.at })
  return rows.toReversed()
}

type RewindDeps = {
  readonly rows: readonly RewindRow[]
  /** `withFiles` also puts back the files that tools changed since. */
  readonly onChoose: (row: RewindRow, withFiles: boolean) => void
  readonly host: ViewHost
}

/** Lists the prompts of the session. The session goes back before the chosen one, which comes back into the input. */
export function createRewindView({ rows, onChoose, host }: RewindDeps): FullView {
  return createListView<RewindRow>(
    {
      title: () => 'Go back before a prompt',
      items: () => rows,
      row: ({ turn, prompt }, width) => rewindRow(turn, prompt, width),
      textOf: ({ prompt }) => prompt,
      preview: (_, width) => [
        cutLine(
          line('The later turns are saved as a branch. The prompt comes back into the input.', styles.dim),
          width,
        ),
        cutLine(
          line('Ctrl+F also puts back the files that tools changed since; it shows them first.', styles.dim),
          width,
        ),
      ],
      onChoose: (row) => onChoose(row, false),
      onKey(event, row) {
        if (event.type !== 'key' || event.name !== 'ctrl+f') return false
        onChoose(row, true)
        return true
      },
      hints: '↑↓ choose   Enter goes back   Ctrl+F with files   Esc back',
      empty: 'There is no turn to go back to.',
    },
    host,
  )
}

const rewindRow = (turn: number, prompt: string, width: number): StyledLine =>
  cutLine([span(`${String(turn).padStart(3)}  `, styles.dim), span(oneLineText(prompt.slice(0, 500)))], width)
