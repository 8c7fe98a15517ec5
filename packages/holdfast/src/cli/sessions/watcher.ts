import type { Frame, SessionId, Status, Usage } from '@holdfast/protocol'
import type { CliContext } from '../context/cli-context.ts'
import { createRunScreen } from '../render/run-screen.ts'
import type { TurnEnded } from '../render/turn-summary.ts'
import { toJsonText } from '../terminal/json-text.ts'

/** The last line of `run --json`. */
export type RunResult = {
  readonly sessionId: SessionId
  readonly text: string
  readonly status: Status
  readonly usage: Usage
  /** How the turn ended, and why where it failed. */
  readonly reason: TurnEnded['reason']
  readonly fault?: TurnEnded['fault']
}

/** Who sees a turn run: a person, or a program that reads JSON lines. */
export interface Watcher {
  show(frame: Frame): Promise<void>
  /** A line for people, beside the data. */
  note(text: string): Promise<void>
  end(result: RunResult): Promise<void>
}

export function createWatcher(isJson: boolean, place: Pick<CliContext, 'out' | 'err'>): Watcher {
  const { show, ...rest } = createPlainWatcher(isJson, place)
  let isRefusing = false
  return {
    ...rest,
    async show(frame) {
      // Whoever follows from a cursor is told how the store stands; that all is well is no news.
      if (frame.type === 'storage' && frame.error === null && !isRefusing) return
      if (frame.type === 'storage') isRefusing = frame.error !== null
      await show(frame)
    },
  }
}

function createPlainWatcher(isJson: boolean, { out, err }: Pick<CliContext, 'out' | 'err'>): Watcher {
  if (isJson) {
    const line = (value: unknown) => out.write(`${toJsonText(value)}\n`)
    return {
      show: async (frame) => {
        const shown = frameJson(frame)
        if (shown !== null) await line(shown)
      },
      note: (text) => err.write(`${text}\n`),
      end: (result) => line({ result }),
    }
  }
  const screen = createRunScreen(out, err)
  return { show: screen.show, note: screen.note, end: screen.settle }
}

/** What is documented, without what belongs to the wire. */
function frameJson(frame: Frame): unknown {
  if (frame.type === 'record') {
    const { seq, at, event } = frame.record
    return { record: { seq, at, event } }
  }
  if (frame.type === 'storage') return { storage: { error: frame.error } }
  if (frame.type !== 'delta') return null
  const { type, sessionId, ...delta } = frame
  return { delta }
}
