import type { Result, SessionHandle } from '@holdfast/protocol'
import type { ArgsOf } from '../args/command-spec.ts'
import { attachTerminal } from '../attach/attach-terminal.ts'
import { checkNamed, type ReachedSessions, reachSessions } from '../connect/connect.ts'
import { latest, openNamed } from '../connect/session-name.ts'
import { resolveWorkspace } from '../connect/workspace.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { type CommandResult, exitCodes, failWith } from '../terminal/exit.ts'
import { startApp } from './app/app.ts'
import type { App } from './app/app-state.ts'
import { openSessions } from './app/open-views.ts'
import { watchServer } from './app/watch-server.ts'
import type { FirstInput } from './input/first-input.ts'
import type { tuiSpec } from './spec.ts'

type Args = ArgsOf<typeof tuiSpec>

/** Runs the terminal UI until the person leaves. What was typed before it was loaded is in `first`. */
export async function runTui(
  { positionals: [name], flags }: Args,
  context: CliContext,
  first: FirstInput,
): Promise<CommandResult> {
  const wanted = name ?? (flags.continue ? latest : undefined)
  const interruption = context.untilInterrupted()
  const left = Promise.withResolvers<void>()
  const running = startApp({ context, first, hasMouse: flags.mouse, onQuit: left.resolve })
  const { app } = running
  interruption.addEventListener('abort', () => left.resolve())
  const alive = setInterval(() => undefined, 2 ** 30) // a session of this process does not keep it running
  let failure: unknown = null
  const opening = open(app, wanted, flags).catch((error: unknown) => {
    failure = error
    left.resolve()
  })
  await left.promise
  clearInterval(alive)
  running.close()
  await Promise.race([opening, app.reached ? opening : Promise.resolve()])
  if (failure === null) await sayGoodbye(app)
  await app.reached?.close()
  if (failure !== null) throw failure
  return interruption.aborted && interruption.reason === 'SIGINT' ? exitCodes.interrupted : undefined
}

/** Reaches the sessions and shows the wanted one, a new one, or the list. */
async function open(app: App, wanted: string | undefined, flags: Args['flags']): Promise<void> {
  const { context } = app
  if (wanted !== undefined && !flags.continue) checkNamed(context, wanted)
  const reached = await reachSessions(context, { usesDefaultModel: wanted === undefined && flags.model === undefined })
  if (!reached.ok) return failWith(reached.fault)
  app.reached = reached.value
  watchServer(app)
  if (flags.resume) {
    const chosen = Promise.withResolvers<void>()
    openSessions(app, '', () => chosen.resolve())
    await chosen.promise
    app.host.notice('No session chosen: this is a new one.')
  }
  const handle = await openOrStart(reached.value, wanted, flags, context, (notice) => app.host.notice(notice))
  if (!handle.ok) return failWith(handle.fault)
  app.show(handle.value)
}

async function openOrStart(
  { sessions }: Pick<ReachedSessions, 'sessions'>,
  wanted: string | undefined,
  { model, plan, continue: isContinued }: Args['flags'],
  context: CliContext,
  onNew: (notice: string) => void,
): Promise<Result<SessionHandle>> {
  if (wanted !== undefined) {
    const named = await openNamed(sessions, context, wanted)
    const isFirst = isContinued && !named.ok && named.fault.code === 'session_not_found'
    if (!isFirst) return named
    onNew('This folder has no session to continue yet: this is a new one.')
  }
  const workdir = resolveWorkspace(context)
  if (!workdir.ok) return workdir
  return sessions.start({
    workdir: workdir.value,
    ...(model !== undefined && { model }),
    ...(plan && { mode: 'plan' as const }),
  })
}

/** Says how to go on. A session in which nothing was said leaves nothing behind. */
async function sayGoodbye(app: App): Promise<void> {
  const meta = app.live?.meta
  if (!meta || meta.turnCount === 0) return
  const { err } = app.context
  await err.tell(err.paint.dim(`\nTo go on: holdfast -c, or holdfast ${meta.handle}`)).catch(() => undefined)
}

/** Works by lines, for screen readers and simple terminals: everything is printed once, and nothing is drawn over. */
export async function runPlain({ positionals: [name], flags }: Args, context: CliContext): Promise<CommandResult> {
  const wanted = name ?? (flags.continue ? latest : undefined)
  if (wanted !== undefined && !flags.continue) checkNamed(context, wanted)
  const reached = await reachSessions(context, { usesDefaultModel: wanted === undefined && flags.model === undefined })
  if (!reached.ok) return failWith(reached.fault)
  try {
    const tell = (notice: string) => void context.err.tell(notice)
    const handle = await openOrStart(reached.value, wanted, flags, context, tell)
    if (!handle.ok) return failWith(handle.fault)
    await context.err.tell('Type a prompt and press Enter. /help lists the commands, /leave ends.')
    return await attachTerminal(handle.value, reached.value, {
      isView: false,
      isJson: false,
      mayOnlyWatch: false,
      context,
    })
  } finally {
    await reached.value.close()
  }
}
