import type { Tool, Tools } from '../../ports/tool.ts'
import type { Origin, SessionState } from '../../session/state.ts'

/** Whether the session offers a tool to its model: one of its list, and only read-only ones in a read-only session. */
export const isOffered = ({ tools, readOnly }: Origin, { schema, isReadOnly }: Tool): boolean =>
  (tools === null || tools.includes(schema.name)) && (!readOnly || isReadOnly)

type Settings = Pick<SessionState['settings'], 'serversOff'>

const isOff = ({ server }: Tool, serversOff: readonly string[]): boolean =>
  server !== undefined && serversOff.includes(server)

/** Returns the tools that a session offers to its model: those of the runtime, and those of its folder. */
export async function findOffered(
  tools: Tools,
  origin: Origin,
  { serversOff = [] }: Settings,
): Promise<readonly Tool[]> {
  const ofFolder = (await tools.ofFolder?.(origin.workdir)) ?? []
  return [...tools.all, ...ofFolder].filter((tool) => isOffered(origin, tool) && !isOff(tool, serversOff))
}

/** Returns the tool of this name that a session offers, or null. */
export async function findTool(
  tools: Tools,
  origin: Origin,
  { serversOff = [] }: Settings,
  name: string,
): Promise<Tool | null> {
  const ofFolder = async () => (await tools.ofFolder?.(origin.workdir))?.find(({ schema }) => schema.name === name)
  const tool = tools.find(name) ?? (await ofFolder()) ?? null
  return tool !== null && isOffered(origin, tool) && !isOff(tool, serversOff) ? tool : null
}
