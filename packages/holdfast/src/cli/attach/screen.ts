import {
  addToView,
  type ClientId,
  type Frame,
  type FrameOf,
  type PendingApproval,
  type Recorded,
  type SessionView,
  textOf,
} from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { previewText, type RunOutput } from '../render/run-output.ts'
import { headText, messageText } from '../render/transcript-text.ts'
import type { CliContext } from '../terminal/cli-context.ts'

/** Prints a session as it goes on, and knows what its user may do now. */
export interface Screen {
  show(frame: Frame): Promise<void>
  /** Whether this client drives the session. */
  isDriving(): boolean
  /** Whether a turn runs. */
  isRunning(): boolean
  /** The oldest question that waits for an answer. */
  question(): PendingApproval | null
  /** Resolves once the client is attached, so that it may send commands, or when all is over. */
  readonly attached: Promise<void>
  end(): Promise<void>
}

type ScreenDeps = {
  readonly client: string
  readonly output: RunOutput
  readonly isJson: boolean
  readonly context: Pick<CliContext, 'out' | 'err'>
}

/** How many of the newest messages are shown at the start. */
const newestShown = 6

export function createScreen({ client, output, isJson, context }: ScreenDeps): Screen {
  let view: SessionView | null = null
  let clients: FrameOf<'presence'>['clients'] = []
  let told = ''
  const attached = Promise.withResolvers<void>()
  const { out, err } = context
  const isDriving = () => clients.some((one) => one.client === client && one.role === 'driver')

  async function tellDriver(): Promise<void> {
    const driver = clients.find(({ role }) => role === 'driver')?.client
    const sentence = driverSentence(driver, client)
    if (sentence !== told) await output.note(err.paint.dim(sentence))
    told = sentence
  }

  async function tellQuestion(asked: PendingApproval): Promise<void> {
    const how = isDriving() ? '\n  Type y to approve, n to reject, or s to approve it for this session.' : ''
    await output.note(`? ${escapeLine(asked.tool)} asks to run: ${previewText(asked.preview, err.paint)}${how}`)
  }

  async function showSnapshot(snapshot: FrameOf<'snapshot'>): Promise<void> {
    view = snapshot.view
    clients = snapshot.here?.clients ?? []
    if (isJson) return
    await err.write(headText(snapshot.meta, err.paint))
    for (const message of snapshot.messages.slice(-newestShown)) await out.write(messageText(message, out.paint))
    for (const asked of view.pendingApprovals) await tellQuestion(asked)
  }

  async function showRecord(record: Recorded): Promise<void> {
    if (view) view = addToView(view, record)
    if (isJson) return
    const { event } = record
    if (event.type === 'user.said') await output.note(err.paint.bold(`> ${escapeHidden(event.typed ?? textOf(event))}`))
    if (event.type === 'turn.ended' && event.reason !== 'done')
      await output.note(
        err.paint.dim(event.fault ? escapeHidden(event.fault.message) : `The turn ended: ${event.reason}.`),
      )
    const asked =
      event.type === 'approval.asked' ? view?.pendingApprovals.find(({ id }) => id === record.seq) : undefined
    if (asked) await tellQuestion(asked)
  }

  return {
    isDriving,
    isRunning: () => view !== null && view.activity !== 'idle' && view.activity !== 'error',
    question: () => view?.pendingApprovals[0] ?? null,
    attached: attached.promise,
    async end() {
      attached.resolve()
      if (!isJson) await output.note('')
    },
    async show(frame) {
      if (isJson) await out.writeJson(frame)
      if (frame.type === 'snapshot') await showSnapshot(frame)
      if (frame.type === 'snapshot') attached.resolve()
      if (frame.type === 'record') await showRecord(frame.record)
      if (frame.type === 'presence') clients = frame.clients
      if (isJson) return
      if (frame.type === 'presence') await tellDriver()
      if (frame.type === 'end') await output.note(endSentence(frame))
      else await output.show(frame)
    },
  }
}

function driverSentence(driver: ClientId | undefined, client: string): string {
  if (driver === undefined) return 'Nobody drives this session. /drive takes control.'
  return driver === client ? 'You drive this session.' : `${escapeLine(driver)} drives this session. You watch it.`
}

const endSentence = ({ reason, retryMs }: FrameOf<'end'>): string => {
  if (retryMs !== null) return 'The connection to the session ended; following it again.'
  return reason === 'left' ? 'You left the session.' : 'The session was stopped.'
}
