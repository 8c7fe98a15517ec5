import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { errorMessage } from '@holdfast/protocol/fault'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { orThrow, type Result } from '@holdfast/protocol/result'
import type { ListedServer, ServerEntry } from '../../../open/open-servers.ts'
import { shellWord } from '../../../system/shell-word.ts'
import type { ArgsOf } from '../../args/command-spec.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { rejectUsage } from '../../terminal/exit.ts'
import { serverExample, withServers, workdirOf } from './mcp-servers.ts'
import type { programSpecs } from './specs.ts'

type Args = ArgsOf<typeof programSpecs.mcp>
type Work = (args: Args, context: CliContext) => Promise<void>

/** Adds a server of the user. */
export const add: Work = async (args, context) => {
  if (args.flags.from !== undefined) return addFrom(args, context)
  const { home, out, err } = context
  const {
    positionals: [, name, ...words],
    flags,
  } = args
  if (name === undefined || words.length === 0)
    return rejectUsage(`mcp add needs a name, and a command after -- or a URL. For example: ${serverExample}`)
  const { addServer, userServerFile } = await import('../../../open/open-servers.ts')
  const file = userServerFile(home)
  const server = orThrow(await addServer(file, name, entryOf(words, flags)))
  const [asked] = flags.later ? [] : await askAll([name], args, context)
  if (flags.json) return out.writeJson({ ...server, file, ...(asked && answerOf(asked)) })
  await err.tell(
    `${server.isReplaced ? 'Replaced' : 'Added'} ${escapeLine(name)} ${server.isReplaced ? 'in' : 'to'} ${file}.`,
  )
  await err.write(asked ? describe(asked) : `To ask for its tools: holdfast mcp test ${shellWord(name)}\n`)
}

/** Takes over the servers of another program. What cannot be taken over is named, and the others count. */
const addFrom: Work = async (args, context) => {
  const {
    positionals: [, ...names],
    flags,
  } = args
  const { cwd, home, out, err } = context
  if (flags.env.length + flags.header.length > 0) rejectUsage('--env and --header belong to one server, not to --from.')
  const { addServer, convertServers, userServerFile } = await import('../../../open/open-servers.ts')
  const path = resolve(cwd(), flags.from ?? '')
  const text = await readFile(path, 'utf8').catch((error) => rejectUsage(`Cannot read ${path}: ${errorMessage(error)}`))
  const { servers, problems } = orThrow(convertServers(text, path))
  const missing = names.filter((name) => !Object.hasOwn(servers, name))
  if (missing.length > 0)
    rejectUsage(
      `${path} has no server ${missing.map(escapeLine).join(', ')}.${didYouMean(missing[0] ?? '', Object.keys(servers))}`,
    )
  const { servers: before } = await withServers(context, (all) => all.list(workdirOf(context, flags)))
  const yours = before.filter(({ from }) => from === 'user').map(({ name }) => name)
  const [added, replaced]: [string[], string[]] = [[], []]
  const refused = [...problems]
  for (const [name, entry] of Object.entries(servers)) {
    if (names.length > 0 && !names.includes(name)) continue
    if (names.length === 0 && yours.includes(name)) {
      refused.push(`You have a server ${name}, which stays as it is. To replace it, name it after the file.`)
      continue
    }
    const server = await addServer(userServerFile(home), name, entry)
    if (!server.ok) refused.push(server.fault.message)
    else if (server.value.isReplaced) replaced.push(name)
    else added.push(name)
  }
  const asked = flags.later ? [] : await askAll([...added, ...replaced], args, context)
  if (flags.json)
    return out.writeJson({
      added,
      replaced,
      problems: refused,
      file: userServerFile(home),
      ...(!flags.later && { servers: asked.map((one) => ({ name: one.name, ...answerOf(one) })) }),
    })
  for (const problem of refused) await err.tell(escapeLine(problem))
  if (added.length > 0 || replaced.length === 0)
    await err.tell(
      `Added ${added.length === 0 ? 'no server' : added.map(escapeLine).join(', ')} to ${userServerFile(home)}.`,
    )
  if (replaced.length > 0) await err.tell(`Replaced ${replaced.map(escapeLine).join(', ')} in ${userServerFile(home)}.`)
  for (const one of asked) await err.write(describe(one))
}

type Asked = { readonly name: string; readonly answer: Result<ListedServer> }

/** Asks new servers what they offer, so that sessions know their tools. A server that fails is added all the same. */
const askAll = (names: readonly string[], { flags }: Args, context: CliContext): Promise<readonly Asked[]> =>
  withServers(context, (all) => {
    const [workdir, signal] = [workdirOf(context, flags), context.untilInterrupted()]
    return Promise.all(names.map(async (name) => ({ name, answer: await all.test(workdir, name, signal) })))
  })

const answerOf = ({ answer }: Asked) =>
  answer.ok ? { tools: answer.value.tools ?? [] } : { tools: null, fault: answer.fault }

function describe({ name, answer }: Asked): string {
  const again = `To try again: holdfast mcp test ${shellWord(name)}`
  if (!answer.ok) return `It is added, but does not answer. ${escapeLine(answer.fault.message)}\n${again}\n`
  const count = answer.value.tools?.length ?? 0
  return `${escapeLine(name)} answers, and has ${count === 1 ? '1 tool' : `${count} tools`}.\n`
}

function entryOf(words: readonly string[], { env, header }: Args['flags']): ServerEntry {
  const [first = '', ...args] = words
  if (/^https?:\/\//.test(first)) {
    if (args.length > 0) rejectUsage('A server with a URL takes no arguments. Put a command after --.')
    if (env.length > 0) rejectUsage('--env belongs to a server that is started by a command.')
    return { type: 'http', url: first, ...(header.length > 0 && { headers: pairsOf(header, ':', '--header') }) }
  }
  if (header.length > 0) rejectUsage('--header belongs to a server with a URL.')
  return { command: first, args, ...(env.length > 0 && { env: pairsOf(env, '=', '--env') }) }
}

/** Reads `NAME=value` of each. */
function pairsOf(texts: readonly string[], between: string, flag: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((pair) => {
      const at = pair.indexOf(between)
      if (at < 1) rejectUsage(`${flag} needs NAME${between}value.`)
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
    }),
  )
}
