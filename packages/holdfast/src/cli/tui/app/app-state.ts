import type { LiveView } from '@holdfast/client'
import type { SessionHandle, SlashCommand } from '@holdfast/protocol'
import type { OpenQuestion } from '../../attach/screen.ts'
import type { ReachedSessions } from '../../connect/connect.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import type { Completion } from '../input/completion.ts'
import type { Editor } from '../input/editor.ts'
import type { Pastes } from '../input/pastes.ts'
import type { PromptHistory } from '../input/prompt-history.ts'
import type { CodeColours } from '../render/code.ts'
import type { StyledLine } from '../term/lines.ts'
import type { ViewHost } from '../views/full-view.ts'
import type { Scrollback } from './scrollback.ts'

/** The list below the input while something can be completed. */
export type CompletionList = {
  readonly found: readonly Completion[]
  readonly chosen: number
  /** The input that it completes. While names of files are looked up, the input may be ahead of it. */
  readonly of: string
}

/** What the keys do: write a prompt, answer an approval, or write why a call is rejected or a value of a form. */
export type Focus =
  /** `isKept`: a question waits, and the person writes first. The keys stay here until Tab or Esc gives them to it. */
  | { readonly type: 'prompt'; readonly isKept?: true }
  | { readonly type: 'approval' }
  | { readonly type: 'reason'; readonly asked: OpenQuestion }
  | { readonly type: 'field'; readonly asked: OpenQuestion; readonly values: readonly unknown[] }

/** The terminal UI: what it shows, and what its keys change. */
export interface App {
  readonly context: CliContext
  readonly host: ViewHost
  readonly client: string
  readonly colours: CodeColours
  readonly history: PromptHistory
  readonly pastes: Pastes
  scrollback: Scrollback
  reached: ReachedSessions | null
  handle: SessionHandle | null
  live: LiveView | null
  editor: Editor
  focus: Focus
  completions: CompletionList | null
  /** The slash commands of the session and of the terminal. */
  commands: readonly SlashCommand[]
  /** Whether lists and texts use the mouse. The main screen never does: there it belongs to the terminal. */
  hasMouse: boolean
  /** Rows that are printed with the next draw. */
  readonly toPrint: StyledLine[]
  /** Prompts that were typed before the session was open. */
  readonly early: (() => void)[]
  /** The question that was drawn last, and from when on keys answer it. */
  shownQuestion: { readonly key: string; readonly answersFrom: number } | null
  /** Whether the connection to the session is lost, and when it was. */
  lostAt: number | null
  /** Called when the connection is lost. */
  onLost: () => void
  /** What the next Ctrl+C or Esc does, while it is announced. */
  armed: 'quit' | 'rewind' | null
  /** Announces that, for a moment. */
  arm(what: 'quit' | 'rewind'): void
  /** Opens another session in place of this one. */
  show(handle: SessionHandle): void
  /** Runs a command of the terminal itself, such as /sessions. Returns false for any other text. */
  runCommand(text: string): boolean
  quit(): void
  /** Runs `work` while the terminal belongs to another program. */
  withoutTerminal<Value>(work: () => Promise<Value>): Promise<Value>
  redraw(): void
}

/** Returns whether a turn runs. */
export const isBusy = ({ live }: Pick<App, 'live'>): boolean =>
  live?.view?.activity === 'thinking' || live?.view?.activity === 'tool_executing'

/** Returns whether this terminal drives the session. */
export const isDriving = ({ live, client }: Pick<App, 'live' | 'client'>): boolean =>
  live?.subscriberRole(client) === 'driver'

/** Returns whether somebody drives the session, as far as is known here. */
export const hasDriver = ({ live }: Pick<App, 'live'>): boolean =>
  !live || live.presence.length === 0 || live.presence.some(({ role }) => role === 'driver')

/** Returns the questions that wait: those of the session in call order, then those of its subagents. */
export const questionsOf = ({ live }: Pick<App, 'live'>): readonly OpenQuestion[] => [
  ...(live?.view?.pendingApprovals ?? []),
  ...(live?.here?.children ?? []).flatMap((child) => child.pendingApprovals.map((asked) => ({ ...asked, child }))),
]

export const keyOf = ({ id, child }: OpenQuestion): string => `${child?.id ?? ''} ${id}`

/** A key that comes this soon after a question appeared was meant for the input, or for the question before. */
export const guardMs = 400

/** Returns how long keys do not answer the question yet; 0 if they do. */
export function guardedMs(app: Pick<App, 'live' | 'shownQuestion'>, now: number): number {
  const [asked] = questionsOf(app)
  // Nobody can have seen a question that was not drawn yet.
  if (!asked || app.shownQuestion?.key !== keyOf(asked)) return guardMs
  return Math.max(0, app.shownQuestion.answersFrom - now)
}
