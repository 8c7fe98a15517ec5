import type { Permissions } from '@holdfast/core/ports'
import { done, ok } from '@holdfast/protocol'

/** Judges by the name of the tool alone, and stores no rules. */
export const fakePermissions: Permissions = {
  async judge({ tool }, own) {
    const verdicts = own.filter((rule) => rule.tool === tool || rule.tool === '*').map(({ verdict }) => verdict)
    const verdict = (['deny', 'ask', 'allow'] as const).find((one) => verdicts.includes(one))
    return verdict ? { verdict, by: 'a rule of the test' } : null
  },
  refuse: () => done,
  allow: async () => ok(null),
}
