import type { Fault } from '@holdfast/protocol/fault'
import { escapeHidden } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { orThrow, type Result } from '@holdfast/protocol/result'
import { logSettingOf } from '../observe/logging/logger.ts'
import type { OpenLogger } from '../observe/logging/open-logger.ts'
import { errorFields } from '../observe/logging/problems.ts'
import { maskKeys } from '../system/secrets/known-keys.ts'
import { type CommandName, commandNames, isCommandName, type RunCommand } from './args/command-specs.ts'
import { commandHelp, programHelp } from './args/help.ts'
import { parseArgs } from './args/parse-args.ts'
import type { CliContext } from './terminal/cli-context.ts'
import { formatCrash } from './terminal/crash-report.ts'
import { type CommandResult, type ExitCode, exitCodes, rejectUsage, UsageError } from './terminal/exit.ts'
import { OutputClosed, toJsonText } from './terminal/output.ts'
import { toFault } from './terminal/to-fault.ts'

/** Loads a command's code when it runs: `ls` must not wait for the code of the server. */
const load: { readonly [Name in CommandName]: () => Promise<{ readonly run: RunCommand<Name> }> } = {
  run: () => import('./commands/session/run.ts'),
  ls: () => import('./commands/session/ls.ts'),
  show: () => import('./commands/session/show.ts'),
  search: () => import('./commands/session/search.ts'),
  branch: async () => ({ run: (await import('./commands/session/change.ts')).branch }),
  branches: () => import('./commands/session/branches.ts'),
  switch: async () => ({ run: (await import('./commands/session/change.ts')).switchBranch }),
  rewind: async () => ({ run: (await import('./commands/session/change.ts')).rewind }),
  fork: async () => ({ run: (await import('./commands/session/change.ts')).fork }),
  rename: async () => ({ run: (await import('./commands/session/change.ts')).rename }),
  pin: async () => ({ run: (await import('./commands/session/change.ts')).pin }),
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
    return (await dispatch(argv, context)) ?? exitCodes.ok
  } catch (error) {
    if (error instanceof OutputClosed) return exitCodes.ok
    const isUsage = error instanceof UsageError
    const fault = isUsage ? { code: 'bad_request' as const, message: error.message } : toFault(error)
    if (fault === null) await context.err.write(formatCrash(error))
    await printFault(fault ?? { code: 'internal', message: 'Holdfast crashed.' }, argv, context)
    return isUsage ? exitCodes.usage : exitCodes.failed
  }
}

async function dispatch(argv: readonly string[], context: CliContext): Promise<CommandResult> {
  const [first, ...rest] = argv
  const { out, version } = context
  if (first === undefined || first === '--help' || first === '-h') return void (await out.write(programHelp(version)))
  if (first === '--version' || first === '-V') return void (await out.write(`${version}\n`))
  if (first === 'help') {
    const [topic = '-'] = rest
    if (topic.startsWith('-')) return void (await out.write(programHelp(version)))
    return isCommandName(topic) ? void (await out.write(commandHelp(topic))) : rejectUsage(unknownCommand(topic))
  }
  if (isCommandName(first)) return runCommand(first, rest, context)
  if (!first.startsWith('-')) return rejectUsage(unknownCommand(first))
  const hint = didYouMean(first, ['--help', '--version']) || ' Put flags after the command.'
  return rejectUsage(`Unknown flag '${first}'.${hint}`)
}

/** Runs a command with its log, and resolves when the log is written. */
async function runCommand<Name extends CommandName>(
  name: Name,
  argv: readonly string[],
  context: CliContext,
): Promise<CommandResult> {
  const args = parseArgs(name, argv)
  if (args === 'help') return void (await context.out.write(commandHelp(name)))
  const flags: { readonly store?: unknown } = args.flags
  const store = typeof flags.store === 'string' ? flags.store : context.store
  const log = await openCommandLog(name, context)
  try {
    const { run } = await load[name]()
    return await run(args, { ...context, store, logger: log?.logger })
  } catch (error) {
    const isExpected = error instanceof OutputClosed || error instanceof UsageError || toFault(error)
    if (!isExpected) log?.logger.error({ err: errorFields(error) }, 'crash')
    throw error
  } finally {
    await log?.close()
  }
}

/** Opens the log that `HOLDFAST_LOG` and `HOLDFAST_LOG_FILE` ask for; null for none. */
async function openCommandLog(name: CommandName, context: CliContext): Promise<OpenLogger | null> {
  const { environment, err, onCrash } = context
  const level = orUsage(logSettingOf(environment, name === 'serve' ? 'warn' : 'off'))
  if (level === 'off') return null
  const { openLogger } = await import('../observe/logging/open-logger.ts') // loads pino
  const file = environment['HOLDFAST_LOG_FILE'] || undefined
  const opened = orUsage(await openLogger({ level, file, onLost: (message) => void err.write(`${message}\n`) }))
  onCrash((cause) => opened.logger.error({ err: errorFields(cause) }, 'crash'))
  return opened
}

/** Returns the value. A bad request for a log is wrong usage. */
const orUsage = <Value>(result: Result<Value>): Value =>
  result.ok || result.fault.code !== 'bad_request' ? orThrow(result) : rejectUsage(result.fault.message)

const unknownCommand = (name: string): string =>
  `Unknown command '${name}'.${didYouMean(name, [...commandNames, 'help']) || ' holdfast --help lists the commands.'}`

/** Prints an error as a sentence on standard error and, with --json, as JSON on standard output. */
async function printFault(fault: Fault, argv: readonly string[], { out, err }: CliContext): Promise<void> {
  await err.write(`${err.paint.red(escapeHidden(maskKeys(fault.message)))}\n`)
  if (argv.includes('--json')) await out.write(`${maskKeys(toJsonText({ error: fault }))}\n`)
}
