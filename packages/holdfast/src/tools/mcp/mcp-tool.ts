import type { Tool } from '@holdfast/core/ports'
import { clip, escapeLine, ok } from '@holdfast/protocol'
import { whenBegun } from '../define/define-tool.ts'
import { findGuard } from '../files/io/guarded-path.ts'
import type { McpConnection, Progress, ServerTool } from './connection/connection.ts'
import { readToolResult } from './tool-result.ts'

type McpToolOptions = {
  /** Its name for the model. */
  readonly name: string
  readonly server: string
  /** The tool by which a model lists the tools of the server. */
  readonly listedBy: string
  readonly tool: ServerTool
  readonly input: Tool['schema']['input']
  readonly connection: Pick<McpConnection, 'call'>
  /** Whether the server describes it otherwise than when a person last allowed a call of it. */
  readonly isChanged: () => boolean
  /** Called when a call was allowed and begins. */
  readonly onAllowed: () => Promise<void>
}

const descriptionCharsMax = 2048
const progressEveryMs = 100
const depthMax = 8
const pathCharsMax = 4096

/**
 * Makes a tool of a server one of the session. A person is asked about its calls: what a server says of its tools is no reason
 * to trust them. One that the server marks as read-only may also be called in plan mode.
 */
export function createMcpTool(options: McpToolOptions): Tool {
  const { name, server, listedBy, tool, input, connection, isChanged, onAllowed } = options
  const isReadOnly = tool.annotations?.readOnlyHint === true
  const run = whenBegun(async (args: Readonly<Record<string, unknown>>, _, call) => {
    await onAllowed()
    let shownMs = Number.NEGATIVE_INFINITY
    const onProgress = (progress: Progress) => {
      if (performance.now() - shownMs < progressEveryMs) return // a server may send any number
      shownMs = performance.now()
      call.show(progressLine(progress))
    }
    const called = await connection.call(tool.name, args, { signal: call.signal, onProgress, ask: call.ask })
    return called.ok ? ok(await readToolResult(called.value, call)) : called
  })
  return {
    schema: { name, description: clip(tool.description ?? tool.title ?? '', descriptionCharsMax), input },
    server,
    listedBy,
    isDestructive: true,
    isReadOnly,
    async prepare(args) {
      const changed = `the server ${escapeLine(server)} has changed this tool since it was last allowed`
      const alwaysAsk = isChanged() ? changed : isReadOnly ? null : findGuardedText(args, depthMax)
      const preview = { type: 'arguments', args: { ...args } } as const
      return { type: 'ready', args, preview, ...(alwaysAsk !== null && { alwaysAsk }) }
    },
    run,
  }
}

/** Returns why a call is asked about each time: one of its texts may name a file that decides what other programs run. */
function findGuardedText(value: unknown, levels: number): string | null {
  if (typeof value === 'string') return value.length > pathCharsMax ? null : findGuard(value)
  if (typeof value !== 'object' || value === null || levels === 0) return null
  for (const part of Object.values(value)) {
    const reason = findGuardedText(part, levels - 1)
    if (reason !== null) return reason
  }
  return null
}

function progressLine({ progress, total, message }: Progress): string {
  const part = total === undefined ? `${progress}` : `${progress} of ${total}`
  return `${message === undefined ? part : `${part}: ${escapeLine(message)}`}\n`
}
