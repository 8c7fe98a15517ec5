import type { Tool } from '@holdfast/core/ports'

/** A tool that asks first and does what the test says. */
export const aTool = (name: string, run: Tool['run'], isDestructive = true): Tool => ({
  schema: { name, description: name, input: { type: 'object' } },
  isDestructive,
  isReadOnly: !isDestructive,
  prepare: async (args) => ({ type: 'ready', args, preview: { type: 'arguments', args: { ...args } } }),
  run,
})
