import type { Tool } from '../../ports/tool.ts'
import type { Origin } from '../../session/state.ts'

/** Whether a session's model may use a tool at all: by its allow-list, and in a read-only session by what the tool does. */
export const isOffered = ({ tools, readOnly }: Origin, { schema, isReadOnly }: Tool): boolean =>
  (tools === null || tools.includes(schema.name)) && (!readOnly || isReadOnly)
