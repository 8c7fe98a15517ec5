import {
  didYouMean,
  type Fault,
  fault,
  findTypedCommand,
  ModelName,
  noWorkdir,
  providerOf,
  type Result,
  refuse,
  type SessionHandle,
  type Sessions,
} from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { checkNamed, reachSessions } from '../../connect/connect.ts'
import { latest, openNamed } from '../../connect/session-name.ts'
import { resolveWorkspace } from '../../connect/workspace.ts'
import type { MarkdownPrinter } from '../../render/run-output.ts'
import { leaveOwned, tellBackground } from '../../sessions/leave-session.ts'
import { runTurn } from '../../sessions/run-turn.ts'
import { saveRefusedPrompt } from '../../sessions/save-refused-prompt.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { type ExitCode, failWith, rejectUsage } from '../../terminal/exit.ts'
import { readIfPiped, readInput } from '../../terminal/piped-input.ts'
import type { sessionSpecs } from './specs.ts'

type Flags = ArgsOf<typeof sessionSpecs.run>['flags']

/** Sends one prompt and prints the answer while it arrives. */
export const run: RunCommand<typeof sessionSpecs.run> = async ({ positionals: [given = '-'], flags }, context) => {
  const { model } = flags
  const session = flags.continue ? latest : flags.session
  if (session !== undefined && model !== undefined) {
    const change = `holdfast tell ${session} setModel model=${model}`
    return rejectUsage(`--model works with a new session only. To change the model of a session: ${escapeLine(change)}`)
  }
  if (model !== undefined && !ModelName.safeParse(model).success)
    return rejectUsage(`--model must be provider/model, for example demo/agent, not '${model}'.`)
  if (session !== undefined) checkNamed(context, session)
  const { prompt, isPiped } = await readPrompt(given, context)
  if (prompt.trim() === '') return rejectUsage(fault('empty_prompt', emptyPrompt))
  const result = await runPrompt(prompt, { ...flags, session }, context)
  if (result.ok) return result.value
  const refusal = isPiped ? await saveRefusedPrompt(result.fault, prompt, context) : result.fault
  if (refusal.code === 'workdir_needed')
    return failWith({ ...refusal, message: `${refusal.message} Add --workdir <folder>.` })
  return model !== undefined && refusal.code === 'unknown_model' ? rejectUsage(refusal) : failWith(refusal)
}

/** `new` is `run` in a new session. */
export const runNew: RunCommand<typeof sessionSpecs.new> = ({ positionals, flags }, context) =>
  run({ positionals, flags: { ...flags, session: undefined, continue: false } }, context)

const emptyPrompt =
  'The prompt is empty. Write it after run, such as holdfast run "list the files here", or pipe it in.'

type GivenPrompt = {
  readonly prompt: string
  /** Whether some of it was piped in, so that no shell history has it. */
  readonly isPiped: boolean
}

/** Reads the prompt: an argument, the standard input, or both, as in `git diff | holdfast run "review this"`. */
async function readPrompt(given: string, { input, err }: CliContext): Promise<GivenPrompt> {
  if (given === '-') {
    if (input().isTTY) return rejectUsage('run needs a prompt: write it after run, or pipe it in.')
    return { prompt: await readInput(input()), isPiped: true }
  }
  const stream = input()
  const piped = await readIfPiped(stream)
  if (piped === null && !stream.isTTY)
    await err.tell('Nothing was piped in for 3 seconds, so the standard input is not read.')
  const isPiped = piped !== null && piped.trim() !== ''
  return { prompt: isPiped ? `${given}\n\n${piped}` : given, isPiped }
}

/** `/help` needs a session to ask, and leaves none behind. */
const isHelpCommand = (prompt: string): boolean => findTypedCommand([{ type: 'text', text: prompt }])?.name === 'help'

async function runPrompt(prompt: string, flags: Flags, context: CliContext): Promise<Result<ExitCode>> {
  const interruption = context.untilInterrupted()
  const isNew = flags.session === undefined
  const reached = await reachSessions(context, { usesDefaultModel: isNew && flags.model === undefined })
  if (!reached.ok) return reached
  try {
    const isHelp = isNew && isHelpCommand(prompt)
    const handle = await openOrStart(reached.value.sessions, flags, context, !isHelp)
    if (!handle.ok) return handle
    if (!isHelp) await tellUntrusted(handle.value, context)
    const by = flags.yes ? 'approve' : flags.no ? 'reject' : 'person'
    const approvals = { by, unattended: 'reject' } as const
    const command = { type: 'sendPrompt', content: prompt } as const
    const markdown = await openAnswerPrinter(context)
    const options = { approvals, queued: 'wait', isNew, isJson: flags.json, context, markdown, interruption } as const
    const ran = await runTurn(handle.value, command, options)
    if (isHelp) await removeHelpSession(reached.value.sessions, handle.value.id)
    else if (reached.value.isHere(handle.value.id)) await leaveOwned(handle.value, context, interruption)
    else await tellBackground(handle.value, context)
    return ran
  } finally {
    await reached.value.close()
  }
}

/** Names what the files of the workspace offer and no person trusts yet. Nothing of it takes effect in this run. */
async function tellUntrusted(handle: SessionHandle, { err, home }: CliContext): Promise<void> {
  const state = await handle.state(['meta'])
  if (!state.ok) return
  const { openOfferTrust } = await import('../../../open/open-offer-trust.ts')
  const found = await openOfferTrust(home).offers(state.value.meta.workspace)
  if (!found.ok) return // the folder is on another machine, or gone
  const untrusted = found.value.offers.filter(({ verdict }) => verdict !== 'trusted')
  if (untrusted.length === 0) return
  const names = untrusted.map(
    ({ kind, name, verdict }) => `  ${kind} ${escapeLine(name)}${verdict === 'changed' ? ', which changed' : ''}`,
  )
  await err.tell(`Not used before you trust it; holdfast trust shows it:\n${names.join('\n')}`)
}

/** Removes the session of `/help`, which a server would list, and find as `@latest`. Only an admin may purge. */
async function removeHelpSession(sessions: Sessions, id: string): Promise<void> {
  const purged = await sessions.purge(id, { force: true })
  if (!purged.ok) await sessions.delete(id, { force: true })
}

async function openOrStart(
  sessions: Sessions,
  { session, model, workdir, plan }: Flags,
  context: CliContext,
  persist: boolean,
): Promise<Result<SessionHandle>> {
  const path = resolveWorkspace(context, workdir) // a server has another current directory
  if (!path.ok) return path
  if (session !== undefined) {
    const handle = await openNamed(sessions, context, session)
    if (!handle.ok) return handle
    const problem = workdir === undefined ? null : await giveWorkdir(handle.value, path.value)
    if (problem) return refuse(problem)
    if (!plan) return handle
    const entered = await handle.value.submit({ type: 'enterPlan' })
    return entered.ok ? handle : entered
  }
  const refusal = await findModelProblem(sessions, model)
  if (refusal) return refuse(refusal)
  return sessions.start({
    workdir: path.value,
    ...(!persist && { persist }),
    ...(model !== undefined && { model }),
    ...(plan && { mode: 'plan' as const }),
  })
}

/** Gives a folder to a session that has none. Returns why not, as for a session that works in another folder. */
async function giveWorkdir(handle: SessionHandle, workdir: string): Promise<Fault | null> {
  const state = await handle.state(['meta'])
  if (!state.ok) return state.fault
  const { workspace, handle: name } = state.value.meta
  if (workspace === noWorkdir) {
    const moved = await handle.submit({ type: 'moveWorkdir', workdir })
    return moved.ok ? null : moved.fault
  }
  if (workspace === workdir) return null
  const move = `holdfast tell ${name} moveWorkdir workdir=${workdir}`
  const message = `${name} already works in ${escapeLine(workspace)}. Leave --workdir out, or move it first: ${escapeLine(move)}`
  return fault('bad_workdir', message, { path: workdir })
}

/** Returns why the model cannot be called, before a session is created that would stay empty. */
async function findModelProblem(sessions: Sessions, given: string | undefined): Promise<Fault | null> {
  const list = await sessions.models()
  if (!list.ok) return list.fault
  const { models, providers } = list.value
  const model = given ?? models.find(({ isDefault }) => isDefault)?.model
  if (model === undefined) return null
  const provider = providers.find((one) => one.provider === providerOf(model))
  const listed = models.find((one) => one.model === model) ?? provider
  if (listed === undefined) {
    const names = models.map((one) => one.model)
    const hint = didYouMean(model, names) || ' holdfast models --all lists the models.'
    return fault('unknown_model', `${given ? '--model: ' : ''}There is no model ${model}.${hint}`, { model })
  }
  // A local server may only be slow to answer. If it is not there, the turn fails and says so.
  const isLocal = provider?.endpoint?.startsWith('http://')
  return listed.unusable === null || isLocal ? null : fault('no_credentials', listed.unusable, { model })
}

/** Returns what draws answers at a terminal; undefined where a program or a file reads them. */
export async function openAnswerPrinter({
  out,
  environment,
  now,
}: Pick<CliContext, 'out' | 'environment' | 'now'>): Promise<MarkdownPrinter | undefined> {
  if (out.columns === null || environment['TERM'] === 'dumb') return undefined
  const { createMarkdownPrinter } = await import('../../tui/render/markdown-printer.ts')
  const isColoured = out.paint.red('') !== ''
  return createMarkdownPrinter({ columns: out.columns, isColoured, rows: () => out.rows, now })
}
