import type { Tool, Tools } from '../../ports/tool.ts'
import type { Origin, SessionState } from '../../session/state.ts'

/** Whether the session offers a tool to its model: one of its list, and only read-only ones in a read-only session. */
export const isOffered = ({ tools, readOnly }: Origin, { schema, listedBy, isReadOnly }: Tool): boolean =>
  (tools === null || tools.includes(schema.name) || (listedBy !== undefined && tools.includes(listedBy))) &&
  (!readOnly || isReadOnly)

type Settings = Pick<SessionState['settings'], 'serversOff'>

const isOff = ({ server }: Tool, serversOff: readonly string[]): boolean =>
  server !== undefined && serversOff.includes(server)

/**
 * Returns the tools that a session offers to its model: those of the runtime, and those of its folder. Servers are asked what
 * they offer if the session, or one of the `needed` names, names a tool of theirs.
 */
export async function findOffered(
  tools: Tools,
  origin: Origin,
  { serversOff = [] }: Settings,
  needed: readonly string[] = [],
): Promise<readonly Tool[]> {
  const ofFolder = (await tools.ofFolder?.(origin.workdir, [...(origin.tools ?? []), ...needed])) ?? []
  return [...tools.all, ...ofFolder].filter((tool) => isOffered(origin, tool) && !isOff(tool, serversOff))
}

/** Returns the tool of this name that a session offers, or null. */
export async function findTool(
  tools: Tools,
  origin: Origin,
  { serversOff = [] }: Settings,
  name: string,
): Promise<Tool | null> {
  const ofFolder = async () =>
    (await tools.ofFolder?.(origin.workdir, [name]))?.find(({ schema }) => schema.name === name)
  const tool = tools.find(name) ?? (await ofFolder()) ?? null
  return tool !== null && isOffered(origin, tool) && !isOff(tool, serversOff) ? tool : null
}
