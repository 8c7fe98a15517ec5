import {
  addToView,
  askText,
  type ChildView,
  type ClientId,
  type Frame,
  type FrameOf,
  type PendingApproval,
  type Recorded,
  type SessionView,
  textOf,
  withChild,
} from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { askedText, previewText } from '../render/preview-text.ts'
import type { RunOutput } from '../render/run-output.ts'
import { headText, messageText } from '../render/transcript-text.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import type { Output } from '../terminal/output.ts'

/** A question that waits for an answer: an approval, or a question of a server. */
export type OpenQuestion = PendingApproval & {
  /** The subagent that asks; absent if the session itself does. */
  readonly child?: ChildView
}

/** Prints a session as it goes on, and knows what its user may do now. */
export interface Screen {
  show(frame: Frame): Promise<void>
  /** Whether this client drives the session. */
  isDriving(): boolean
  /** Whether a turn runs. */
  isRunning(): boolean
  /** The questions that wait for an answer: those of the session first, then those of its subagents. */
  questions(): readonly OpenQuestion[]
  /** Resolves once a record is shown, no turn runs and nothing is queued; or when all is over. */
  atRest(after: number): Promise<void>
  /** Resolves once the client is attached, so that it may send commands, or when all is over. */
  readonly attached: Promise<void>
  end(): Promise<void>
}

type ScreenDeps = {
  readonly client: string
  readonly output: RunOutput
  readonly isJson: boolean
  /** Whether nothing is read from the terminal. */
  readonly isView: boolean
  /** Whether the token of this client may only watch. */
  readonly mayOnlyWatch: boolean
  readonly context: Pick<CliContext, 'out' | 'err'>
}

/** How many of the newest messages are shown at the start. */
const newestShown = 6

export function createScreen({ client, output, isJson, isView, mayOnlyWatch, context }: ScreenDeps): Screen {
  let view: SessionView | null = null
  let children: readonly ChildView[] = []
  let clients: FrameOf<'presence'>['clients'] = []
  let told = ''
  /** The questions that were printed, and whether with the keys that answer them. */
  const shown = new Map<string, 'whole' | 'without keys'>()
  const attached = Promise.withResolvers<void>()
  const waiting = new Map<() => void, number>()
  let isOver = false
  let seq = -1
  const isRunning = () => view !== null && view.activity !== 'idle' && view.activity !== 'error'
  const rests = () => view !== null && !isRunning() && view.queue.length === 0
  const tellRest = () => {
    for (const [resolve, after] of waiting)
      if (isOver || (rests() && seq >= after)) {
        waiting.delete(resolve)
        resolve()
      }
  }
  const { out, err } = context
  const isDriving = () => clients.some((one) => one.client === client && one.role === 'driver')

  async function tellDriver(): Promise<void> {
    const driver = clients.find(({ role }) => role === 'driver')?.client
    const vacant = mayOnlyWatch ? 'This token may only watch.' : isView ? 'You watch it.' : '/drive takes control.'
    const sentence = driverSentence(driver, client, vacant)
    if (sentence !== told) await output.tell(err.paint.dim(sentence))
    told = sentence
  }

  const questions = (): readonly OpenQuestion[] => [
    ...(view?.pendingApprovals ?? []),
    ...children.flatMap((child) => child.pendingApprovals.map((asked) => ({ ...asked, child }))),
  ]

  /** Prints new questions, and the keys for those that were printed while another client drove. */
  async function tellQuestions(): Promise<void> {
    const open = questions()
    for (const asked of open) {
      const key = keyOf(asked)
      const before = shown.get(key)
      if (before === 'whole' || (before && !isDriving())) continue
      shown.set(key, isDriving() ? 'whole' : 'without keys')
      await output.note(before ? `? ${whoAsks(asked)} still waits.` : questionText(asked, err))
      if (isDriving()) await output.tell(`  ${answerKeys(asked)}`)
    }
    const keys = new Set(open.map(keyOf))
    for (const key of shown.keys()) if (!keys.has(key)) shown.delete(key)
  }

  async function showSnapshot(snapshot: FrameOf<'snapshot'>): Promise<void> {
    view = snapshot.view
    seq = snapshot.seq
    clients = snapshot.here?.clients ?? []
    children = snapshot.here?.children ?? []
    if (isJson) return
    await err.write(err.wrap(headText(snapshot.meta, err.paint)))
    for (const message of snapshot.messages.slice(-newestShown))
      await out.write(messageText(message, out.paint, false, out.wrap))
    await tellQuestions()
  }

  async function showRecord(record: Recorded): Promise<void> {
    if (view) view = addToView(view, record)
    seq = record.seq
    if (isJson) return
    const { event } = record
    if (event.type === 'user.said') await output.note(err.paint.bold(`> ${escapeHidden(event.typed ?? textOf(event))}`))
    if (event.type === 'turn.ended' && event.reason !== 'done')
      await output.tell(
        err.paint.dim(event.fault ? escapeHidden(event.fault.message) : `The turn ended: ${event.reason}.`),
      )
  }

  return {
    isDriving,
    isRunning,
    atRest: (after) =>
      new Promise((resolve) => {
        waiting.set(resolve, after)
        tellRest()
      }),
    questions,
    attached: attached.promise,
    async end() {
      attached.resolve()
      isOver = true
      tellRest()
      if (!isJson) await output.note('')
    },
    async show(frame) {
      if (isJson) await out.writeJson(frame)
      if (frame.type === 'snapshot') await showSnapshot(frame)
      if (frame.type === 'snapshot') attached.resolve()
      if (frame.type === 'record') await showRecord(frame.record)
      if (frame.type === 'presence') clients = frame.clients
      if (frame.type === 'child' && frame.view) children = withChild(children, frame.view)
      tellRest()
      if (isJson) return
      if (frame.type === 'presence') await tellDriver()
      if (frame.type === 'end') await output.tell(endSentence(frame))
      else await output.show(frame)
      if (view && (frame.type === 'record' || frame.type === 'presence' || frame.type === 'child'))
        await tellQuestions()
    },
  }
}

const keyOf = ({ id, child }: OpenQuestion): string => `${child?.id ?? ''} ${id}`

const whoAsks = ({ child, tool, preview }: OpenQuestion): string =>
  `${child ? `subagent ${child.handle}: ` : ''}${escapeLine(preview.type === 'question' ? preview.from : tool)}`

function questionText(asked: OpenQuestion, err: Output): string {
  const { child, preview, changed } = asked
  if (preview.type === 'question')
    return err.wrap(`? ${child ? `subagent ${child.handle}: ` : ''}${previewText(preview, err.paint)}`)
  const asks = askText(asked)
  const why = `${changed ? ', because the file changed' : ''}${asks === null ? '' : ` (${escapeLine(asks)})`}`
  return askedText(`? ${whoAsks(asked)} asks to run${why}:`, preview, err)
}

/** Says which keys answer a question. */
function answerKeys({ preview, reason }: OpenQuestion): string {
  if (preview.type === 'question') return 'Type y to answer, or n to decline.'
  if (reason !== undefined) return 'Type y to approve, or n to reject.'
  return 'Type y to approve once, t for this turn, s for this session, a always, or n to reject, with a reason if you like.'
}

function driverSentence(driver: ClientId | undefined, client: string, vacant: string): string {
  if (driver === undefined) return `Nobody drives this session. ${vacant}`
  return driver === client ? 'You drive this session.' : `${escapeLine(driver)} drives this session. You watch it.`
}

const endSentence = ({ reason, retryMs }: FrameOf<'end'>): string => {
  if (retryMs !== null) return 'The connection to the session ended; following it again.'
  return reason === 'left' ? 'You left the session.' : 'The session was stopped.'
}
