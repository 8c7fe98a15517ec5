import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import type { ListedServer } from '../../../open/open-servers.ts'
import { shellWord } from '../../../system/shell-word.ts'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { findAction } from '../../args/find-action.ts'
import { textTable } from '../../render/text-table.ts'
import type { CliContext, GivenServer } from '../../terminal/cli-context.ts'
import { failWith, rejectUsage } from '../../terminal/exit.ts'
import { add } from './mcp-add.ts'
import { loginTo, serverExample, withServers, workdirOf } from './mcp-servers.ts'
import type { programSpecs } from './specs.ts'

type Args = ArgsOf<typeof programSpecs.mcp>
type Work = (args: Args, context: CliContext) => Promise<void>

/** Lists and changes the servers of the Model Context Protocol. Running sessions see a change at their next step. */
export const run: RunCommand<typeof programSpecs.mcp> = async (args, context) => {
  const [action = 'list'] = args.positionals
  const work = findAction('mcp', action, actions)
  if (action !== 'list' && context.server)
    rejectUsage(`mcp ${action} changes or starts servers of this machine: leave --url out. Only mcp list works there.`)
  if (action !== 'add' && args.flags.env.length + args.flags.header.length > 0)
    rejectUsage('--env and --header belong to mcp add.')
  if (action !== 'add' && args.flags.from !== undefined) rejectUsage('--from belongs to mcp add.')
  if (action !== 'add' && args.flags.later) rejectUsage('--later belongs to mcp add.')
  if (action !== 'login' && args.flags.port !== undefined) rejectUsage('--port belongs to mcp login.')
  await work(args, context)
}

const list: Work = async ({ positionals, flags }, context) => {
  if (positionals.length > 1) rejectUsage('mcp list takes no names. Use mcp test <name> to ask one server.')
  const { out, err, server } = context
  if (server) return listAt(server, workdirOf(context, flags), flags.json, context)
  const { servers, problems } = await withServers(context, (all) => all.list(workdirOf(context, flags)))
  if (flags.json) return out.writeJson({ servers, problems })
  if (servers.length === 0) await err.tell(`No server is configured. For example: ${serverExample}`)
  else {
    const rows = servers.map((one) => [
      escapeLine(one.name),
      one.from,
      stateWords[one.state] ?? one.state,
      countOf(one),
      escapeLine(targetOf(one)),
    ])
    await out.write(textTable(['NAME', 'FROM', 'STATE', 'TOOLS', 'HOW'], rows, out))
  }
  for (const one of servers.filter(({ state }) => state === 'untrusted'))
    await err.tell(
      `${escapeLine(one.name)} comes with the workspace. To use it: holdfast trust grant ${shellWord(one.name)}`,
    )
  for (const one of servers.filter(({ state }) => state === 'needs_sign_in'))
    await err.tell(`${escapeLine(one.name)} needs a sign-in: holdfast mcp login ${shellWord(one.name)}`)
  for (const problem of problems) await err.tell(escapeLine(problem))
}

/** Prints the servers that sessions in a folder of a server can use. */
async function listAt(server: GivenServer, workdir: string, isJson: boolean, { out, err }: CliContext): Promise<void> {
  const { connectGiven } = await import('../../connect/connect-given.ts')
  const found = await connectGiven(server).mcpServers(workdir)
  if (isJson) return out.writeJson(found)
  if (found.servers.length === 0) await err.tell(`No server is configured there for ${escapeLine(workdir)}.`)
  else {
    const rows = found.servers.map(({ name, scope, state, why, tools, target }) => [
      ...[escapeLine(name), scope, stateWords[state] ?? state, tools === null ? 'not asked yet' : String(tools)],
      escapeLine(why ?? target),
    ])
    await out.write(textTable(['NAME', 'FROM', 'STATE', 'TOOLS', 'HOW'], rows, out))
  }
  for (const problem of found.problems) await err.tell(escapeLine(problem))
}

const stateWords: Readonly<Record<string, string>> = { needs_sign_in: 'needs sign-in' }

const remove: Work = async ({ positionals: [, name, ...more], flags }, { home, out, err }) => {
  if (name === undefined || more.length > 0) return rejectUsage('mcp remove needs the name of one server.')
  const { removeServer, userServerFile } = await import('../../../open/open-servers.ts')
  const file = userServerFile(home)
  const removed = await removeServer(file, name)
  if (!removed.ok) return failWith(removed.fault)
  if (flags.json) return out.writeJson({ name, file })
  await err.tell(`Removed ${escapeLine(name)} from ${file}.`)
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
  for (const problem of problems) await context.err.tell(escapeLine(problem))
}

const login: Work = async ({ positionals: [, name, ...more], flags }, context) => {
  if (name === undefined || more.length > 0) return rejectUsage('mcp login needs the name of one server.')
  await withServers(context, (servers) =>
    loginTo({ servers, workdir: workdirOf(context, flags), name, port: portOf(flags.port) }, context),
  )
}

const logout: Work = async ({ positionals: [, name, ...more], flags }, context) => {
  if (name === undefined || more.length > 0) return rejectUsage('mcp logout needs the name of one server.')
  const { signOutOf } = await import('../../../open/open-servers.ts')
  const server = await withServers(context, (servers) => servers.find(workdirOf(context, flags), name))
  const wasIn = orThrow(await signOutOf(context.home, orThrow(server)))
  if (flags.json) return context.out.writeJson({ name, wasSignedIn: wasIn })
  await context.err.tell(
    wasIn
      ? `Signed out of ${escapeLine(name)}: its tokens are deleted.`
      : `You were not signed in to ${escapeLine(name)}.`,
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

const countOf = ({ tools }: ListedServer): string => (tools === null ? 'not asked yet' : String(tools.length))

const targetOf = ({ connect, why }: ListedServer): string =>
  why ?? (connect.type === 'http' ? connect.url : [connect.command, ...connect.args].join(' '))
