import type { LiveView } from '@holdfast/client'
import { type Fault, ok, type Result } from '@holdfast/protocol'
import { oneLineText } from '../render/format.ts'
import { cutLine, type StyledLine, shownLine, span, styles } from '../term/lines.ts'
import { wrapText } from '../term/wrap.ts'
import type { FullView, ViewHost } from './full-view.ts'
import { createListView } from './list-view.ts'

/** A turn to go back before, with the prompt that began it. */
export type RewindRow = { readonly turn: number; readonly prompt: string; readonly at: string }

/** The messages of a session. Older ones are loaded in pages. */
type Loaded = Pick<LiveView, 'messages' | 'hasOlder' | 'loadOlder'>

/** Returns the turns whose first prompt is loaded, newest first. The first loaded message may be in the middle of its turn. */
export function rewindRows({ messages, hasOlder }: Pick<Loaded, 'messages' | 'hasOlder'>): readonly RewindRow[] {
  const cutTurn = hasOlder ? messages[0]?.turn : undefined
  const rows: RewindRow[] = []
  for (const message of messages)
    if (
      message.kind === 'user' &&
      !message.child &&
      message.turn !== cutTurn &&
      rows.at(-1)?.turn !== message.turn // what is said later in a turn steers it
    )
      rows.push({ turn: message.turn, prompt: message.text, at: message.at })
  return rows.toReversed()
}

/** Returns the last turn, or null if there is none. Loads older messages until its first prompt is there. */
export async function findLastTurn(live: Loaded): Promise<Result<RewindRow | null>> {
  for (;;) {
    const [last] = rewindRows(live)
    if (last || !live.hasOlder) return ok(last ?? null)
    const loaded = await live.loadOlder()
    if (!loaded.ok) return loaded
  }
}

type RewindDeps = {
  readonly live: Loaded
  /** `withFiles` also puts back the files that tools changed since. */
  readonly onChoose: (row: RewindRow, withFiles: boolean) => void
  readonly host: ViewHost
}

/** Lists the prompts of the session. The session goes back before the chosen one, which comes back into the input. */
export function createRewindView({ live, onChoose, host }: RewindDeps): FullView {
  // A turn that begins while the list is open would move the rows under the cursor.
  const newest = rewindRows(live)[0]?.turn ?? 0
  const loading = { isOn: false, fault: null as Fault | null }

  /** Loads older turns when the end of the list is in sight. */
  async function loadMore(): Promise<void> {
    if (loading.isOn || loading.fault || !live.hasOlder) return
    loading.isOn = true
    const loaded = await live.loadOlder()
    Object.assign(loading, { isOn: false, fault: loaded.ok ? null : loaded.fault })
    host.redraw()
  }

  function title(): string {
    if (loading.fault)
      return `Go back before a prompt; older ones cannot be loaded: ${shownLine(loading.fault.message)}`
    return `Go back before a prompt${live.hasOlder ? ', scroll down for older ones' : ''}`
  }

  return createListView<RewindRow>(
    {
      title,
      items: () => rewindRows(live).filter(({ turn }) => turn <= newest),
      onEnd: () => void loadMore(),
      row: ({ turn, prompt }, width) => rewindRow(turn, prompt, width),
      textOf: ({ prompt }) => prompt,
      preview: (_, width) => [
        ...wrapText('The later turns are saved as a branch. The prompt comes back into the input.', width, styles.dim),
        ...wrapText(
          'Ctrl+F also puts back the files that tools changed since; it shows them first.',
          width,
          styles.dim,
        ),
      ],
      onChoose: (row) => onChoose(row, false),
      onKey(event, row) {
        if (event.type !== 'key' || event.name !== 'ctrl+f') return false
        onChoose(row, true)
        return true
      },
      hints: '↑↓ choose   Enter goes back   Ctrl+F with files   Esc back',
    },
    host,
  )
}

const rewindRow = (turn: number, prompt: string, width: number): StyledLine =>
  cutLine([span(`${String(turn).padStart(3)}  `, styles.dim), span(oneLineText(prompt.slice(0, 500)))], width)
