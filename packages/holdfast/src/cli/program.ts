import { escapeHidden } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { errorFields } from '../observe/logging/error-fields.ts'
import { maskKeys } from '../system/secrets/known-keys.ts'
import { type ArgsOf, type CommandName, commandNames, isCommandName } from './args/command-specs.ts'
import { commandHelp, programHelp } from './args/help.ts'
import { parseArgs } from './args/parse-args.ts'
import type { CliContext } from './context/cli-context.ts'
import { openCommandLog } from './sessions/command-log.ts'
import { crashText } from './terminal/crash-report.ts'
import { type Ended, type ExitCode, ended, exitCodes, misused, refused } from './terminal/exit.ts'
import { toJsonText } from './terminal/json-text.ts'
import { OutputClosed } from './terminal/output.ts'
import { foreseen } from './terminal/to-fault.ts'

type Run<Name extends CommandName> = (args: ArgsOf<Name>, place: CliContext) => Promise<Ended>

/** A command's code is loaded when it runs: `ls` must not wait for the server's. */
const load: { readonly [Name in CommandName]: () => Promise<Run<Name>> } = {
  run: async () => (await import('./commands/session/run.ts')).run,
  ls: async () => (await import('./commands/session/ls.ts')).ls,
  show: async () => (await import('./commands/session/show.ts')).show,
  search: async () => (await import('./commands/session/search.ts')).search,
  branch: async () => (await import('./commands/session/shape.ts')).branch,
  branches: async () => (await import('./commands/session/branches.ts')).branches,
  switch: async () => (await import('./commands/session/shape.ts')).switchBranch,
  rewind: async () => (await import('./commands/session/shape.ts')).rewind,
  fork: async () => (await import('./commands/session/shape.ts')).fork,
  export: async () => (await import('./commands/store/export.ts')).exportSession,
  import: async () => (await import('./commands/store/import.ts')).importSessions,
  rename: async () => (await import('./commands/session/keep.ts')).rename,
  pin: async () => (await import('./commands/session/keep.ts')).pin,
  rm: async () => (await import('./commands/session/rm.ts')).rm,
  prune: async () => (await import('./commands/session/prune.ts')).prune,
  trash: async () => (await import('./commands/session/trash.ts')).trash,
  'mv-workspace': async () => (await import('./commands/store/mv-workspace.ts')).mvWorkspace,
  tell: async () => (await import('./commands/session/tell.ts')).tell,
  stats: async () => (await import('./commands/store/stats.ts')).stats,
  doctor: async () => (await import('./commands/store/doctor.ts')).doctor,
  backup: async () => (await import('./commands/store/backup.ts')).backup,
  migrate: async () => (await import('./commands/store/migrate.ts')).migrate,
  auth: async () => (await import('./commands/program/auth.ts')).auth,
  models: async () => (await import('./commands/program/models.ts')).models,
  serve: async () => (await import('./commands/program/serve.ts')).serve,
}

/** The program, from its arguments to its exit code. Says everything there is to say on the way. */
export async function runProgram(argv: readonly string[], place: CliContext): Promise<ExitCode> {
  try {
    return await tellEnd(await dispatch(argv, place), argv, place)
  } catch (error) {
    if (error instanceof OutputClosed) return exitCodes.ok
    const fault = foreseen(error)
    if (fault) return tellEnd({ type: 'refused', fault }, argv, place)
    await place.err.write(crashText(error))
    return tellEnd({ type: 'refused', fault: { code: 'internal', message: 'Holdfast failed.' } }, argv, place)
  }
}

async function dispatch(argv: readonly string[], place: CliContext): Promise<Ended> {
  const [first, ...rest] = argv
  const say = async (text: string) => {
    await place.out.write(text)
    return ended()
  }
  if (first === undefined || first === '--help' || first === '-h') return say(programHelp(place.version))
  if (first === '--version' || first === '-V') return say(`${place.version}\n`)
  if (first === 'help') {
    const [topic] = rest
    if (topic === undefined || topic.startsWith('-')) return say(programHelp(place.version))
    return isCommandName(topic) ? say(commandHelp(topic)) : misused(unknownCommand(topic))
  }
  if (isCommandName(first)) return runCommand(first, rest, place)
  if (!first.startsWith('-')) return misused(unknownCommand(first))
  const hint = didYouMean(first, ['--help', '--version']) || ' Flags stand after the command.'
  return misused(`Unknown flag '${first}'.${hint}`)
}

async function runCommand<Name extends CommandName>(
  name: Name,
  argv: readonly string[],
  place: CliContext,
): Promise<Ended> {
  const parsed = parseArgs(name, argv)
  if (parsed.type === 'misused') return misused(parsed.message)
  if (parsed.type === 'args') return runLogged(name, parsed.args, atStore(parsed.args.flags, place))
  await place.out.write(commandHelp(name))
  return ended()
}

/** Runs it with the log it is to keep, and is over when all of that is written. */
async function runLogged<Name extends CommandName>(name: Name, args: ArgsOf<Name>, place: CliContext): Promise<Ended> {
  const opened = await openCommandLog(name, place)
  if (!opened.ok) return opened.fault.code === 'bad_request' ? misused(opened.fault.message) : refused(opened.fault)
  const logger = opened.value?.logger
  try {
    return await (await load[name]())(args, { ...place, logger })
  } catch (error) {
    if (!(error instanceof OutputClosed) && !foreseen(error)) logger?.error({ err: errorFields(error) }, 'crash')
    throw error
  } finally {
    await opened.value?.close()
  }
}

/** A store that was named on the command line counts for all of the command. */
function atStore(flags: object, place: CliContext): CliContext {
  const store = 'store' in flags && typeof flags.store === 'string' ? flags.store : place.store
  return { ...place, store }
}

const unknownCommand = (name: string): string =>
  `Unknown command '${name}'.${didYouMean(name, [...commandNames, 'help']) || ' holdfast --help lists them.'}`

/** A sentence for people, always; a document for programs where they asked for one. */
async function tellEnd(how: Ended, argv: readonly string[], { out, err }: CliContext): Promise<ExitCode> {
  if (how.type === 'ended') return how.code
  const fault = how.type === 'refused' ? how.fault : { code: 'bad_request' as const, message: how.message }
  await err.write(`${err.paint.red(escapeHidden(maskKeys(fault.message)))}\n`)
  if (argv.includes('--json')) await out.write(`${maskKeys(toJsonText({ error: fault }))}\n`)
  return how.type === 'misused' ? exitCodes.usage : exitCodes.failed
}
