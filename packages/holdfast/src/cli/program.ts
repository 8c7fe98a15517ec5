import type { Fault } from '@holdfast/protocol/fault'
import { escapeHidden } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { orThrow, type Result } from '@holdfast/protocol/result'
import { logSettingOf } from '../observe/logging/logger.ts'
import type { OpenLogger } from '../observe/logging/open-logger.ts'
import { errorFields } from '../observe/logging/problems.ts'
import { maskKeys } from '../system/secrets/known-keys.ts'
import { commandHelp, helpColumns, programHelp } from './args/help.ts'
import { parseArgs } from './args/parse-args.ts'
import { tellCommands } from './commands/session/tell-help.ts'
import { type CommandName, commandGroups, commandNames, commandSpecs, isCommandName, loadCommand } from './commands.ts'
import type { CliContext, GivenServer } from './terminal/cli-context.ts'
import { formatCrash } from './terminal/crash-report.ts'
import { type CommandResult, type ExitCode, exitCodes, rejectUsage, UsageError } from './terminal/exit.ts'
import { OutputClosed, toJsonText } from './terminal/output.ts'
import { toFault } from './terminal/to-fault.ts'
import { tuiName, tuiSpec } from './tui/spec.ts'

/** Runs the program with its arguments and returns its exit code. */
export async function runProgram(argv: readonly string[], context: CliContext): Promise<ExitCode> {
  try {
    return (await dispatch(argv, context)) ?? exitCodes.ok
  } catch (error) {
    if (error instanceof OutputClosed) return exitCodes.ok
    const isUsage = error instanceof UsageError
    const fault = isUsage ? error.fault : toFault(error)
    if (fault === null) await context.err.write(formatCrash(error))
    await printFault(fault ?? { code: 'internal', message: 'Holdfast crashed.' }, argv, context)
    return isUsage ? exitCodes.usage : exitCodes.failed
  }
}

async function dispatch(argv: readonly string[], context: CliContext): Promise<CommandResult> {
  const [first, ...rest] = argv
  const { out, version } = context
  const columns = helpColumns(out)
  if (first === undefined && isAtTerminal(context)) return runTui(argv, context)
  if (first === undefined || first === '--help' || first === '-h')
    return void (await out.write(programHelp(version, commandGroups, columns)))
  if (['version', '--version', '-v', '-V'].includes(first)) return void (await out.write(`${version}\n`))
  if (first === 'help') {
    const [topic = '-'] = rest
    if (topic.startsWith('-')) return void (await out.write(programHelp(version, commandGroups, columns)))
    if (topic === tuiName) return void (await out.write(commandHelp(topic, tuiSpec, columns)))
    if (topic === 'version') return void (await out.write('Usage: holdfast version\n\nPrint the version.\n'))
    return isCommandName(topic)
      ? void (await out.write(commandHelp(topic, commandSpecs[topic], columns)))
      : rejectUsage(unknownCommand(topic))
  }
  if (first === '__complete') return printNextWords(rest, context)
  if (isCommandName(first)) return runCommand(first, rest, context)
  if (isTuiArgument(first)) return runTui(argv, context)
  if (!first.startsWith('-')) return rejectUsage(unknownCommand(first))
  const hint =
    didYouMean(first, [...Object.keys(tuiSpec.flags).map((flag) => `--${flag}`), '--help', '--version']) ||
    ' Put flags after the command.'
  return rejectUsage(`Unknown flag '${first}'.${hint}`)
}

/** Prints what could come next in a line that is being typed: completion scripts ask this. */
async function printNextWords(typed: readonly string[], context: CliContext): Promise<undefined> {
  const { printCompletion } = await import('./completion/print-completion.ts')
  const tellNames = Object.entries(tellCommands).map(([word, [, about]]) => ({ word, about }))
  const vocabulary = {
    specs: commandSpecs,
    tellCommands: tellNames,
    terminal: tuiSpec,
    isTerminalArgument: isTuiArgument,
  }
  return printCompletion(typed, vocabulary, context)
}

const isAtTerminal = ({ input, screen }: CliContext): boolean => input().isTTY === true && screen?.().isTTY === true

/** Returns whether the terminal UI is meant: by one of its flags, or by the name of a session. */
export function isTuiArgument(first: string): boolean {
  const [flag = ''] = first.split('=')
  if (/^-[cr]$/.test(flag) || (flag.startsWith('--') && Object.hasOwn(tuiSpec.flags, flag.slice(2)))) return true
  return first.startsWith('@') || /^ses_\w+$/.test(first) || /^[a-z]+(-[a-z]+)*-\d+$/.test(first)
}

/** Runs the terminal UI: `holdfast` without a command. */
async function runTui(argv: readonly string[], context: CliContext): Promise<CommandResult> {
  const args = parseArgs(tuiName, tuiSpec, argv)
  if (args === 'help') return void (await context.out.write(commandHelp(tuiName, tuiSpec, helpColumns(context.out))))
  return runLogged('tui', args.flags, context, async (prepared) => (await import('./tui/tui.ts')).run(args, prepared))
}

/** Runs a command with its log, and resolves when the log is written. */
async function runCommand<Name extends CommandName>(
  name: Name,
  argv: readonly string[],
  context: CliContext,
): Promise<CommandResult> {
  const args = parseArgs(name, commandSpecs[name], argv)
  if (args === 'help')
    return void (await context.out.write(commandHelp(name, commandSpecs[name], helpColumns(context.out))))
  // The flags of any command: each has some of them, or none.
  return runLogged(name, args.flags as ServerFlags, context, async (prepared) =>
    (await loadCommand[name]()).run(args, prepared),
  )
}

async function runLogged(
  name: CommandName | 'tui',
  flags: ServerFlags,
  context: CliContext,
  run: (context: CliContext) => Promise<CommandResult>,
): Promise<CommandResult> {
  const server = await findGivenServer(flags, context)
  const store = typeof flags.store === 'string' ? flags.store : context.store
  const log = await openCommandLog(name, context)
  try {
    return await run({ ...context, store, server, logger: log?.logger })
  } catch (error) {
    const isExpected = error instanceof OutputClosed || error instanceof UsageError || toFault(error)
    if (!isExpected) log?.logger.error({ err: errorFields(error) }, 'crash')
    throw error
  } finally {
    await log?.close()
  }
}

type ServerFlags = { readonly url?: unknown; readonly 'token-file'?: unknown; readonly store?: unknown }

/** Returns the server that `--url` names. Its token is never an argument: others could read it in the list of processes. */
async function findGivenServer(flags: ServerFlags, context: CliContext): Promise<GivenServer | undefined> {
  const { url, store, 'token-file': tokenFile } = flags
  if (typeof url !== 'string') {
    if (typeof tokenFile === 'string') rejectUsage('--token-file works with --url only.')
    return undefined
  }
  if (typeof store === 'string') rejectUsage('Use either --store or --url, not both.')
  const { findToken } = await import('./connect/given-server.ts')
  return findToken(url, typeof tokenFile === 'string' ? tokenFile : undefined, context)
}

/** Opens the log that `HOLDFAST_LOG` and `HOLDFAST_LOG_FILE` ask for; null for none. */
async function openCommandLog(name: CommandName | 'tui', context: CliContext): Promise<OpenLogger | null> {
  const { environment, err, onCrash } = context
  const level = orUsage(logSettingOf(environment, name === 'serve' ? 'warn' : 'off'))
  if (level === 'off') return null
  const { openLogger } = await import('../observe/logging/open-logger.ts') // loads pino
  const file = environment['HOLDFAST_LOG_FILE'] || undefined
  const opened = orUsage(await openLogger({ level, file, onLost: (message) => void err.tell(message) }))
  onCrash((cause) => opened.logger.error({ err: errorFields(cause) }, 'crash'))
  return opened
}

/** Returns the value. A bad request for a log is wrong usage. */
const orUsage = <Value>(result: Result<Value>): Value =>
  result.ok || result.fault.code !== 'bad_request' ? orThrow(result) : rejectUsage(result.fault.message)

/** Words of other programs, and what does the same here. */
const otherWords: Readonly<Record<string, string>> = {
  ask: 'run',
  chat: 'run',
  prompt: 'run',
  continue: '-c',
  resume: '-r',
  sessions: 'ls',
  list: 'ls',
  history: 'ls',
  delete: 'rm',
  remove: 'rm',
  cat: 'show',
  find: 'search',
  server: 'serve',
  start: 'serve',
  web: 'open',
}

function unknownCommand(name: string): string {
  const same = Object.hasOwn(otherWords, name) ? ` Did you mean 'holdfast ${otherWords[name]}'?` : ''
  const hint = same || didYouMean(name, [...commandNames, 'help', 'version']) || ' holdfast --help lists the commands.'
  return `Unknown command '${name}'.${hint}`
}

/** Prints an error as a sentence on standard error and, with --json, as JSON on standard output. */
async function printFault(fault: Fault, argv: readonly string[], { out, err }: CliContext): Promise<void> {
  await err.tell(err.paint.red(escapeHidden(maskKeys(fault.message))))
  if (argv.includes('--json')) await out.write(`${maskKeys(toJsonText({ error: fault }))}\n`)
}
