import type { Tool } from '@holdfast/core/ports'
import { clip, escapeLine, ok } from '@holdfast/protocol'
import { whenBegun } from '../define/define-tool.ts'
import type { McpConnection, Progress, ServerTool } from './connection.ts'
import { readToolResult } from './tool-result.ts'

type McpToolOptions = {
  /** Its name for the model. */
  readonly name: string
  readonly server: string
  readonly tool: ServerTool
  readonly input: Tool['schema']['input']
  readonly connection: Pick<McpConnection, 'call'>
  /** Whether the server describes it otherwise than when a person last allowed a call of it. */
  readonly isChanged: () => boolean
  /** Called when a call was allowed and begins. */
  readonly onAllowed: () => Promise<void>
}

const descriptionCharsMax = 2048

/**
 * Makes a tool of a server one of the session. A person is asked about its calls: what a server says of its tools is no reason
 * to trust them. One that the server marks as read-only may also be called in plan mode.
 */
export function createMcpTool({ name, server, tool, input, connection, isChanged, onAllowed }: McpToolOptions): Tool {
  const run = whenBegun(async (args: Readonly<Record<string, unknown>>, _, call) => {
    await onAllowed()
    const onProgress = (progress: Progress) => call.show(progressLine(progress))
    const called = await connection.call(tool.name, args, { signal: call.signal, onProgress })
    return called.ok ? ok(await readToolResult(called.value, call)) : called
  })
  return {
    schema: { name, description: clip(tool.description ?? tool.title ?? '', descriptionCharsMax), input },
    isDestructive: true,
    isReadOnly: tool.annotations?.readOnlyHint === true,
    async prepare(args) {
      const reason = isChanged()
        ? { alwaysAsk: `the server ${escapeLine(server)} has changed this tool since it was last allowed` }
        : {}
      return { type: 'ready', args, preview: { type: 'arguments', args: { ...args } }, ...reason }
    },
    run,
  }
}

function progressLine({ progress, total, message }: Progress): string {
  const part = total === undefined ? `${progress}` : `${progress} of ${total}`
  return `${message === undefined ? part : `${part}: ${escapeLine(message)}`}\n`
}
