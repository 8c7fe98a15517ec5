import { escapeHidden } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { ok, type Result } from '@holdfast/protocol/result'
import { errorFields } from '../observe/logging/error-fields.ts'
import { logSettingOf } from '../observe/logging/logger.ts'
import type { OpenLogger } from '../observe/logging/open-logger.ts'
import { maskKeys } from '../system/secrets/known-keys.ts'
import { type ArgsOf, type CommandName, commandNames, isCommandName, type RunCommand } from './args/command-specs.ts'
import { commandHelp, programHelp } from './args/help.ts'
import { parseArgs } from './args/parse-args.ts'
import type { CliContext } from './terminal/cli-context.ts'
import { formatCrash } from './terminal/crash-report.ts'
import { type CommandResult, type ExitCode, exitCodes, exitWith, failWith, rejectUsage } from './terminal/exit.ts'
import { OutputClosed, toJsonText } from './terminal/output.ts'
import { toFault } from './terminal/to-fault.ts'

/** Loads a command's code when it runs: `ls` must not wait for the code of the server. */
const load: { readonly [Name in CommandName]: () => Promise<{ readonly run: RunCommand<Name> }> } = {
  run: () => import('./commands/session/run.ts'),
  ls: () => import('./commands/session/ls.ts'),
  show: () => import('./commands/session/show.ts'),
  search: () => import('./commands/session/search.ts'),
  branch: () => import('./commands/session/branch.ts'),
  branches: () => import('./commands/session/branches.ts'),
  switch: () => import('./commands/session/switch.ts'),
  rewind: () => import('./commands/session/rewind.ts'),
  fork: () => import('./commands/session/fork.ts'),
  rename: () => import('./commands/session/rename.ts'),
  pin: () => import('./commands/session/pin.ts'),
  rm: () => import('./commands/session/rm.ts'),
  prune: () => import('./commands/session/prune.ts'),
  trash: () => import('./commands/session/trash.ts'),
  tell: () => import('./commands/session/tell.ts'),
  export: () => import('./commands/store/export.ts'),
  import: () => import('./commands/store/import.ts'),
  'mv-workspace': () => import('./commands/store/mv-workspace.ts'),
  stats: () => import('./commands/store/stats.ts'),
  doctor: () => import('./commands/store/doctor.ts'),
  backup: () => import('./commands/store/backup.ts'),
  migrate: () => import('./commands/store/migrate.ts'),
  auth: () => import('./commands/program/auth.ts'),
  models: () => import('./commands/program/models.ts'),
  serve: () => import('./commands/program/serve.ts'),
}

/** Runs the program with its arguments and returns its exit code. */
export async function runProgram(argv: readonly string[], context: CliContext): Promise<ExitCode> {
  try {
    return await report(await dispatch(argv, context), argv, context)
  } catch (error) {
    if (error instanceof OutputClosed) return exitCodes.ok
    const fault = toFault(error)
    if (fault) return report(failWith(fault), argv, context)
    await context.err.write(formatCrash(error))
    return report(failWith({ code: 'internal', message: 'Holdfast crashed.' }), argv, context)
  }
}

async function dispatch(argv: readonly string[], context: CliContext): Promise<CommandResult> {
  const [first, ...rest] = argv
  const print = async (text: string) => {
    await context.out.write(text)
    return exitWith()
  }
  if (first === undefined || first === '--help' || first === '-h') return print(programHelp(context.version))
  if (first === '--version' || first === '-V') return print(`${context.version}\n`)
  if (first === 'help') {
    const [topic] = rest
    if (topic === undefined || topic.startsWith('-')) return print(programHelp(context.version))
    return isCommandName(topic) ? print(commandHelp(topic)) : rejectUsage(unknownCommand(topic))
  }
  if (isCommandName(first)) return runCommand(first, rest, context)
  if (!first.startsWith('-')) return rejectUsage(unknownCommand(first))
  const hint = didYouMean(first, ['--help', '--version']) || ' Put flags after the command.'
  return rejectUsage(`Unknown flag '${first}'.${hint}`)
}

async function runCommand<Name extends CommandName>(
  name: Name,
  argv: readonly string[],
  context: CliContext,
): Promise<CommandResult> {
  const parsed = parseArgs(name, argv)
  if (parsed.type === 'usage') return parsed
  if (parsed.type === 'args') return runLogged(name, parsed.args, withStore(parsed.args.flags, context))
  await context.out.write(commandHelp(name))
  return exitWith()
}

/** Returns the context with the store of `--store`, if it was given. */
function withStore(flags: object, context: CliContext): CliContext {
  const store = 'store' in flags && typeof flags.store === 'string' ? flags.store : context.store
  return { ...context, store }
}

/** Runs a command with its log, and resolves when the log is written. */
async function runLogged<Name extends CommandName>(
  name: Name,
  args: ArgsOf<Name>,
  context: CliContext,
): Promise<CommandResult> {
  const opened = await openCommandLog(name, context)
  if (!opened.ok)
    return opened.fault.code === 'bad_request' ? rejectUsage(opened.fault.message) : failWith(opened.fault)
  const logger = opened.value?.logger
  try {
    const { run } = await load[name]()
    return await run(args, { ...context, logger })
  } catch (error) {
    if (!(error instanceof OutputClosed) && !toFault(error)) logger?.error({ err: errorFields(error) }, 'crash')
    throw error
  } finally {
    await opened.value?.close()
  }
}

/** Opens the log that `HOLDFAST_LOG` and `HOLDFAST_LOG_FILE` ask for; null for none. */
async function openCommandLog(name: CommandName, context: CliContext): Promise<Result<OpenLogger | null>> {
  const { environment, err, onCrash } = context
  const level = logSettingOf(environment, name === 'serve' ? 'warn' : 'off')
  if (!level.ok) return level
  if (level.value === 'off') return ok(null)
  const { openLogger } = await import('../observe/logging/open-logger.ts') // loads pino
  const file = environment['HOLDFAST_LOG_FILE'] || undefined
  const opened = await openLogger({ level: level.value, file, onLost: (message) => void err.write(`${message}\n`) })
  if (opened.ok) onCrash((cause) => opened.value.logger.error({ err: errorFields(cause) }, 'crash'))
  return opened
}

const unknownCommand = (name: string): string =>
  `Unknown command '${name}'.${didYouMean(name, [...commandNames, 'help']) || ' holdfast --help lists the commands.'}`

/** Prints an error as a sentence on standard error and, with --json, as JSON on standard output. */
async function report(result: CommandResult, argv: readonly string[], { out, err }: CliContext): Promise<ExitCode> {
  if (result.type === 'exit') return result.code
  const fault = result.type === 'failed' ? result.fault : { code: 'bad_request' as const, message: result.message }
  await err.write(`${err.paint.red(escapeHidden(maskKeys(fault.message)))}\n`)
  if (argv.includes('--json')) await out.write(`${maskKeys(toJsonText({ error: fault }))}\n`)
  return result.type === 'usage' ? exitCodes.usage : exitCodes.failed
}
