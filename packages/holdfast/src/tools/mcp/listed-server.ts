import type { SessionServer } from '@holdfast/protocol'
import type { ConfiguredServer } from './config/configured-servers.ts'
import type { McpServer } from './config/server-config.ts'
import type { ConnectionState } from './connection/connection.ts'
import { type BuiltTool, toolsMax } from './server-tools.ts'
import type { StartableServer } from './startable-server.ts'

/** A server, as people see it. */
export type ListedServer = Pick<McpServer, 'name' | 'from' | 'connect'> & {
  /** `untrusted`: a person must trust it first. `stopped`: it starts when it is needed. */
  readonly state: ConnectionState['type'] | 'off' | 'untrusted'
  /** Why it failed. */
  readonly why: string | null
  /** The names of its tools for the model. Null: it was never asked what it offers. */
  readonly tools: readonly string[] | null
  /** The names of its prompts. */
  readonly prompts: readonly string[]
  /** The tools that cannot be used, with the reason. */
  readonly problems: readonly string[]
}

export type ServerList = { readonly servers: readonly ListedServer[]; readonly problems: readonly string[] }

export const describeServer = (
  { name, from, connect }: ConfiguredServer,
  rest: Omit<ListedServer, 'name' | 'from' | 'connect'>,
): ListedServer => ({ name, from, connect, ...rest })

export function describeStartable(one: StartableServer, all: readonly BuiltTool[]): ListedServer {
  const { server, connection, offer } = one
  const now = connection.state()
  const state: ConnectionState =
    now.type === 'stopped' && one.signIn !== null ? { type: 'needs_sign_in', why: one.signIn } : now
  const own = all.filter((built) => built.one === one)
  const count = offer?.tools.length ?? 0
  return describeServer(server, {
    state: state.type,
    why: 'why' in state ? state.why : null,
    tools: offer === null ? null : own.flatMap((built) => ('tool' in built ? [built.tool.schema.name] : [])),
    prompts: offer?.prompts.map(({ name }) => name) ?? [],
    problems: [
      ...own.flatMap((built) => ('problem' in built ? [built.problem] : [])),
      ...(count > toolsMax ? [`Only the first ${toolsMax} of its tools are used.`] : []),
      ...(offer?.isCut ? ['It offers more than can be used; the rest is left out.'] : []),
      ...(one.failure !== null && state.type === 'ready' ? [`It did not say what it offers now. ${one.failure}`] : []),
    ],
  })
}

/** Describes a server for the people who look at a session. */
export const toSessionServer = (one: ListedServer): Omit<SessionServer, 'isOn'> => ({
  name: one.name,
  scope: one.from,
  why: one.why,
  problems: [...one.problems],
  target: targetOf(one),
  state: one.state === 'stopped' ? 'known' : one.state,
  tools: one.tools?.length ?? null,
})

const targetOf = ({ connect }: ListedServer): string =>
  connect.type === 'http' ? connect.url : [connect.command, ...connect.args].join(' ')
