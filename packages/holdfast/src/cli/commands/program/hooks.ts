import type { ListedHook } from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { orThrow } from '@holdfast/protocol/result'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { findAction } from '../../args/find-action.ts'
import { resolveWorkspace } from '../../connect/workspace.ts'
import { textTable } from '../../render/text-table.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { rejectUsage } from '../../terminal/exit.ts'
import type { programSpecs } from './specs.ts'

type Args = ArgsOf<typeof programSpecs.hooks>
type Work = (args: Args, context: CliContext) => Promise<void>

/** Lists the hooks of a folder, or tries those of an event with a sample. */
export const run: RunCommand<typeof programSpecs.hooks> = async (args, context) => {
  const [action = 'list'] = args.positionals
  const work = findAction('hooks', action, actions)
  await work(args, context)
}

async function open({ flags }: Args, context: CliContext) {
  const workdir = orThrow(resolveWorkspace(context, flags.workspace))
  const { openUserHooks } = await import('../../../open/open-hooks.ts')
  return { workdir, hooks: orThrow(await openUserHooks(context.environment, context.home)) }
}

const list: Work = async (args, context) => {
  if (args.positionals.length > 1) rejectUsage('hooks list takes no names. Use --workspace for another folder.')
  if (args.flags.tool !== undefined) rejectUsage('--tool belongs to hooks test.')
  const { server } = context
  const remote = server && (await import('../../connect/connect-given.ts')).connectGiven(server)
  const workdir = orThrow(resolveWorkspace(context, args.flags.workspace))
  const found = remote ? await remote.hooks(workdir) : await (await open(args, context)).hooks.list(workdir)
  const { out, err } = context
  if (args.flags.json) return out.writeJson({ hooks: found })
  if (found.length === 0) return err.tell(`${escapeLine(workdir)} has no hooks.`)
  const rows = found.map(({ state, event, matcher, source, hook }) => [
    ...[state, escapeLine(event), escapeLine(matcher || '*'), source, escapeLine(hook)],
  ])
  await out.write(textTable(['STATE', 'EVENT', 'MATCHER', 'FROM', 'HOOK'], rows, out))
  for (const hook of found)
    if (hook.why !== undefined) await err.tell(`${escapeLine(hook.offer ?? hook.hook)}: ${escapeLine(hook.why)}`)
  const waiting = found.filter(({ state }) => state === 'waiting' || state === 'changed')
  if (waiting.length > 0) await err.write(waitingText(waiting))
}

const waitingText = (waiting: readonly ListedHook[]): string =>
  `${waiting.length === 1 ? '1 hook does' : `${waiting.length} hooks do`} not run before you trust ${waiting.length === 1 ? 'it' : 'them'}. holdfast trust shows what they would do.\n`

const test: Work = async (args, context) => {
  const [, given, ...more] = args.positionals
  if (context.server) rejectUsage('hooks test runs hooks on this machine: leave --url out.')
  const { HookEvent, hookText } = await import('@holdfast/protocol')
  const event = HookEvent.safeParse(given)
  if (!event.success || more.length > 0) {
    const hint = given === undefined ? '' : didYouMean(given, HookEvent.options)
    return rejectUsage(`hooks test needs one event.${hint || ` Use ${HookEvent.options.join(', ')}.`}`)
  }
  const { hooks, workdir } = await open(args, context)
  const { sampleMoment, sampleSession } = await import('../../../hooks/sample-moment.ts')
  await hooks.refresh(workdir)
  const session = { session: sampleSession, workdir, mode: 'exec', approvals: undefined } as const
  const ran = await hooks.run(sampleMoment(event.data, args.flags.tool ?? 'shell'), session, context.untilInterrupted())
  const { out, err } = context
  if (args.flags.json) return out.writeJson({ runs: ran?.runs ?? [], answer: ran?.answer ?? null })
  if (ran === null) return err.tell(await whyNone(event.data, args, hooks.list(workdir)))
  for (const { printed, ...one } of ran.runs) {
    await out.write(`${escapeLine(hookText(one))} (${one.durationMs} ms)\n`)
    if (printed.trim() !== '') await out.write(`${escapeHidden(printed.trimEnd()).replaceAll(/^/gm, '| ')}\n`)
    if (one.context !== undefined) await out.write(`${escapeHidden(one.context).replaceAll(/^/gm, '> ')}\n`)
  }
}

/** Says why no hook ran: there is none, none is active, or those there are for other tools. */
async function whyNone(event: string, { flags }: Args, listing: Promise<readonly ListedHook[]>): Promise<string> {
  const there = (await listing).filter((hook) => hook.event === event)
  const active = there.filter(({ state }) => state === 'active')
  if (there.length === 0) return `No hook runs at ${event} here. holdfast hooks lists them.`
  if (active.length === 0) return `No hook of ${event} is active here. holdfast hooks says why.`
  const matchers = [...new Set(active.map(({ matcher }) => matcher))].map(escapeLine).join(', ')
  if (!/ToolUse$/.test(event)) return `The hooks of ${event} here are for ${matchers}, and not for the sample.`
  const tool = escapeLine(flags.tool ?? 'shell')
  return `No hook runs at ${event} for ${tool}: those here are for ${matchers}. Choose another tool with --tool.`
}

const actions = { list, test }
