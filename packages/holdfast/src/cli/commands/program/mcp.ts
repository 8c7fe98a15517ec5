import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { errorMessage } from '@holdfast/protocol/fault'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { orThrow } from '@holdfast/protocol/result'
import type { ListedServer, McpServers, ServerEntry } from '../../../open-servers.ts'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { findAction } from '../../args/find-action.ts'
import { shellWord } from '../../render/shell-word.ts'
import { textTable } from '../../render/tables.ts'
import { reportProblem } from '../../sessions/connect.ts'
import { resolveWorkspace } from '../../sessions/workspace.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { failWith, rejectUsage } from '../../terminal/exit.ts'
import type { programSpecs } from './specs.ts'

type Args = ArgsOf<typeof programSpecs.mcp>
type Work = (args: Args, context: CliContext) => Promise<void>

/** Lists and changes the servers of the Model Context Protocol. Running sessions see a change at their next step. */
export const run: RunCommand<typeof programSpecs.mcp> = async (args, context) => {
  const [action = 'list'] = args.positionals
  const work = findAction('mcp', action, actions)
  if (action !== 'add' && args.flags.env.length + args.flags.header.length > 0)
    rejectUsage('--env and --header belong to mcp add.')
  if (action !== 'add' && args.flags.from !== undefined) rejectUsage('--from belongs to mcp add.')
  if (action !== 'login' && args.flags.port !== undefined) rejectUsage('--port belongs to mcp login.')
  await work(args, context)
}

const list: Work = async ({ positionals, flags }, context) => {
  if (positionals.length > 1) rejectUsage('mcp list takes no names. Use mcp test <name> to ask one server.')
  const { servers, problems } = await withServers(context, (all) => all.list(workdirOf(context, flags)))
  const { out, err } = context
  if (flags.json) return out.writeJson({ servers, problems })
  if (servers.length === 0) await err.write(`No server is configured. For example: ${example}\n`)
  else {
    const rows = servers.map((one) => [
      escapeLine(one.name),
      one.from,
      stateWords[one.state] ?? one.state,
      countOf(one),
      escapeLine(targetOf(one)),
    ])
    await out.write(textTable(['NAME', 'FROM', 'STATE', 'TOOLS', 'HOW'], rows, out.paint))
  }
  for (const one of servers.filter(({ state }) => state === 'untrusted'))
    await err.write(
      `${escapeLine(one.name)} comes with the workspace. To use it: holdfast trust grant ${shellWord(one.name)}\n`,
    )
  for (const one of servers.filter(({ state }) => state === 'needs_sign_in'))
    await err.write(`${escapeLine(one.name)} needs a sign-in: holdfast mcp login ${shellWord(one.name)}\n`)
  for (const problem of problems) await err.write(`${escapeLine(problem)}\n`)
}

const stateWords: Readonly<Record<string, string>> = { needs_sign_in: 'needs sign-in' }

const add: Work = async (args, context) => {
  if (args.flags.from !== undefined) return addFrom(args, context)
  const { home, out, err } = context
  const {
    positionals: [, name, ...words],
    flags,
  } = args
  if (name === undefined || words.length === 0)
    return rejectUsage(`mcp add needs a name, and a command after -- or a URL. For example: ${example}`)
  const { addServer, userServerFile } = await import('../../../open-servers.ts')
  const file = userServerFile(home)
  const server = orThrow(await addServer(file, name, entryOf(words, flags)))
  if (flags.json) return out.writeJson({ ...server, file })
  const what = server.isReplaced ? 'Replaced' : 'Added'
  await err.write(
    `${what} ${escapeLine(name)} ${server.isReplaced ? 'in' : 'to'} ${file}. To try it: holdfast mcp test ${shellWord(name)}\n`,
  )
}

/** Takes over the servers of another program. What cannot be taken over is named, and the others count. */
const addFrom: Work = async ({ positionals: [, ...names], flags }, context) => {
  const { cwd, home, out, err } = context
  if (flags.env.length + flags.header.length > 0) rejectUsage('--env and --header belong to one server, not to --from.')
  const { addServer, convertServers, userServerFile } = await import('../../../open-servers.ts')
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
  if (flags.json) return out.writeJson({ added, replaced, problems: refused, file: userServerFile(home) })
  for (const problem of refused) await err.write(`${escapeLine(problem)}\n`)
  if (added.length > 0 || replaced.length === 0)
    await err.write(
      `Added ${added.length === 0 ? 'no server' : added.map(escapeLine).join(', ')} to ${userServerFile(home)}.\n`,
    )
  if (replaced.length > 0)
    await err.write(`Replaced ${replaced.map(escapeLine).join(', ')} in ${userServerFile(home)}.\n`)
}

const remove: Work = async ({ positionals: [, name, ...more], flags }, { home, out, err }) => {
  if (name === undefined || more.length > 0) return rejectUsage('mcp remove needs the name of one server.')
  const { removeServer, userServerFile } = await import('../../../open-servers.ts')
  const file = userServerFile(home)
  const removed = await removeServer(file, name)
  if (!removed.ok) return failWith(removed.fault)
  if (flags.json) return out.writeJson({ name, file })
  await err.write(`Removed ${escapeLine(name)} from ${file}.\n`)
}

const test: Work = async ({ positionals: [, name, ...more], flags }, context) => {
  if (name === undefined || more.length > 0) return rejectUsage('mcp test needs the name of one server.')
  const { out } = context
  const workdir = workdirOf(context, flags)
  const { asked, commands } = await withServers(context, async (all) => ({
    asked: await all.test(workdir, name, context.untilInterrupted()),
    commands: (await all.prompts(workdir)).filter(({ server }) => server === name),
  }))
  if (!asked.ok) return failWith(asked.fault)
  const { tools, problems } = asked.value
  if (flags.json) return out.writeJson(asked.value)
  const lines = (heading: string, names: readonly string[]) =>
    names.length === 0 ? '' : `${heading}\n${names.map((one) => `  ${escapeLine(one)}\n`).join('')}`
  const prompts = commands.map(({ name: typed, prompt }) => `/${typed}: ${prompt.description ?? prompt.name}`)
  await out.write(
    `${escapeLine(name)} answers.\n${lines('Tools:', tools ?? [])}${lines('Prompts, as slash commands:', prompts)}`,
  )
  for (const problem of problems) await context.err.write(`${escapeLine(problem)}\n`)
}

const login: Work = async ({ positionals: [, name, ...more], flags }, context) => {
  if (name === undefined || more.length > 0) return rejectUsage('mcp login needs the name of one server.')
  const { loginTo } = await import('../../sessions/login-server.ts')
  await withServers(context, (servers) =>
    loginTo({ servers, workdir: workdirOf(context, flags), name, port: portOf(flags.port) }, context),
  )
}

const logout: Work = async ({ positionals: [, name, ...more], flags }, context) => {
  if (name === undefined || more.length > 0) return rejectUsage('mcp logout needs the name of one server.')
  const { signOutOf } = await import('../../../open-servers.ts')
  const server = await withServers(context, (servers) => servers.find(workdirOf(context, flags), name))
  const wasIn = orThrow(await signOutOf(context.home, orThrow(server)))
  if (flags.json) return context.out.writeJson({ name, wasSignedIn: wasIn })
  await context.err.write(
    wasIn
      ? `Signed out of ${escapeLine(name)}: its tokens are deleted.\n`
      : `You were not signed in to ${escapeLine(name)}.\n`,
  )
}

const portOf = (given: string | undefined): number | undefined => {
  if (given === undefined) return undefined
  const port = Number(given)
  return Number.isInteger(port) && port > 0 && port < 65_536
    ? port
    : rejectUsage('--port needs a number from 1 to 65535.')
}

const actions = { list, add, remove, test, login, logout }

const workspace = `'\${WORKSPACE}'` // a variable of the configuration, which the shell must not expand
const example = `holdfast mcp add files -- npx -y @modelcontextprotocol/server-filesystem ${workspace}`

async function withServers<Value>(context: CliContext, work: (servers: McpServers) => Promise<Value>): Promise<Value> {
  const { home, environment } = context
  const { openServers } = await import('../../../open-servers.ts')
  const servers = openServers({ home, environment, onProblem: reportProblem(context) })
  try {
    return await work(servers)
  } finally {
    await servers.close()
  }
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

const workdirOf = (context: CliContext, { workspace }: Args['flags']): string =>
  orThrow(resolveWorkspace(context, workspace))

const countOf = ({ tools }: ListedServer): string => (tools === null ? 'not asked yet' : String(tools.length))

const targetOf = ({ connect, why }: ListedServer): string =>
  why ?? (connect.type === 'http' ? connect.url : [connect.command, ...connect.args].join(' '))
