import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { FollowOptions } from '@holdfast/client'
import type { Frame, FrameOf, Role, SessionHandle, SubscribeOptions } from '@holdfast/protocol'
import { escapeHidden } from '@holdfast/protocol/hostile-text'
import type { ReachedSessions } from '../connect/connect.ts'
import { createRunOutput, type RunOutput } from '../render/run-output.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { type ExitCode, exitCodes } from '../terminal/exit.ts'
import { readLines } from './read-lines.ts'
import { createScreen, type Screen } from './screen.ts'
import { createTypist } from './typist.ts'

type AttachOptions = {
  /** Only watches: nothing is read from the terminal. */
  readonly isView: boolean
  readonly isJson: boolean
  /** Whether the token of this client may only watch. */
  readonly mayOnlyWatch: boolean
  readonly context: CliContext
}

/** Attaches this terminal to a session: prints what happens there, and sends what the user types. */
export async function attachTerminal(
  handle: SessionHandle,
  reached: ReachedSessions,
  { isView, isJson, mayOnlyWatch, context }: AttachOptions,
): Promise<ExitCode> {
  const client = `terminal-${randomUUID().slice(0, 8)}`
  const output = createRunOutput(isJson, context)
  const leaving = new AbortController()
  const screen = createScreen({ client, output, isJson, isView, mayOnlyWatch, context })
  let isLeft = false
  const leave = () => {
    isLeft = true
    leaving.abort()
  }
  const typist = createTypist({ handle, client, screen, output, context, sessions: reached.sessions, leave })
  const role: Role | undefined = isView ? 'viewer' : undefined
  watchInterrupts(context, leaving, typist.interrupt)
  if (!reached.isRemote) void tellTakenOver(handle, reached, output, leaving.signal)
  const onConnection = tellConnection(output)
  const following: FollowOptions = { client, role, mayDrive: !isView, signal: leaving.signal, onConnection }
  const alive = setInterval(() => undefined, 60_000) // a stream of this process does not keep it running
  const typed = isView ? null : screen.attached.then(() => readLines(context.input(), leaving.signal, typist.type))
  // After piped lines nothing more is typed: leaves once their turns are over.
  void typed?.then(() => screen.atRest(typist.lastSeq())).then(() => leaving.abort())
  try {
    const end = await follow(handle, following, screen)
    return end === null || end.reason !== 'failed' ? exitCodes.ok : exitCodes.failed
  } finally {
    clearInterval(alive)
    leaving.abort()
    await screen.end()
    await typed
    if (isLeft && !isJson) await tellHowToGoOn(handle, output)
  }
}

/** A session in which nothing was said leaves nothing behind. */
async function tellHowToGoOn(handle: SessionHandle, output: RunOutput): Promise<void> {
  const state = await handle.state(['meta'])
  if (state.ok && state.value.meta.turnCount > 0)
    await output.tell(`To go on: holdfast -c, or holdfast ${state.value.meta.handle}`)
}

/** Prints the frames until the user leaves or the session stops. Follows again where a stream only asks for a pause. */
async function follow(
  handle: SessionHandle,
  following: SubscribeOptions,
  screen: Screen,
): Promise<FrameOf<'end'> | null> {
  let after: number | undefined
  for (;;) {
    let end: FrameOf<'end'> | null = null
    for await (const frame of handle.subscribe({ ...following, after })) {
      after = cursorOf(frame) ?? after
      if (frame.type === 'end') end = frame
      await screen.show(frame)
    }
    if (following.signal?.aborted || end === null || end.retryMs === null) return end
    await wait(end.retryMs, undefined, { signal: following.signal }).catch(() => undefined) // left meanwhile
  }
}

function cursorOf(frame: Frame): number | null {
  if (frame.type === 'snapshot') return frame.seq
  return frame.type === 'record' ? frame.record.seq : null
}

/** The first Ctrl-C aborts the turn that this client drives; otherwise, and the second time, it leaves. So do other signals. */
function watchInterrupts(
  context: CliContext,
  leaving: AbortController,
  interrupt: () => Promise<'aborted' | 'nothing runs'>,
): void {
  const signal = context.untilInterrupted()
  const onSignal = async () => {
    if (leaving.signal.aborted) return
    if (signal.reason === 'SIGTERM' || signal.reason === 'SIGHUP') return leaving.abort() // nobody may be there for a second one
    watchInterrupts(context, leaving, async () => 'nothing runs') // the second Ctrl-C leaves
    if ((await interrupt()) === 'nothing runs') leaving.abort()
  }
  if (signal.aborted) void onSignal()
  else signal.addEventListener('abort', () => void onSignal(), { once: true })
}

function tellConnection(output: RunOutput): FollowOptions['onConnection'] {
  let isLost = false
  return ({ state, ...connection }) => {
    if (state === 'waiting' && !isLost) void output.tell('Cannot reach the server; retrying.')
    if (state === 'live' && isLost) void output.tell('Connected again.')
    if (state === 'waiting' || state === 'live') isLost = state === 'waiting'
    if ('fault' in connection && state === 'ended' && connection.fault)
      void output.tell(escapeHidden(connection.fault.message))
  }
}

/** Says when another process took the session over because this one did not answer. The stream goes on there. */
async function tellTakenOver(
  { id }: SessionHandle,
  { sessions }: ReachedSessions,
  output: RunOutput,
  signal: AbortSignal,
): Promise<void> {
  for await (const news of sessions.subscribe({ signal }))
    if (news.type === 'session.stopped' && news.session === id && news.reason === 'taken_over')
      await output.tell(news.cause ?? 'Another process took over this session.')
}
