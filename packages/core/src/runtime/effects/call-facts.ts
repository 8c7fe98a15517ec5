import type { CallFacts } from '../../policy/verdict.ts'
import type { Tool, ToolArgs } from '../../ports/tool.ts'
import type { EffectDeps } from '../dependencies.ts'
import { hashArgs } from './hash-args.ts'

/** What the policy is told of a call. */
export async function factsOf(
  { store }: EffectDeps,
  workdir: string,
  { schema, isDestructive, isReadOnly }: Tool,
  args: ToolArgs,
): Promise<CallFacts> {
  const { name: tool } = schema
  const workspaceTrust = await store.workspaceTrust(workdir)
  return { tool, target: targetOf(args), isDestructive, isReadOnly, argsHash: hashArgs(tool, args), workspaceTrust }
}

/** What a permission's pattern is held against. */
function targetOf({ command, path }: ToolArgs): string | null {
  if (typeof command === 'string') return command
  return typeof path === 'string' ? path : null
}
