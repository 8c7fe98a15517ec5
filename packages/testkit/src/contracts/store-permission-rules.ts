import type { PermissionRows } from '@holdfast/core/ports'
import type { ListedPermission } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { codeOf, type OpenStore, useStore } from './store-fixture.ts'

/** Describes a store that keeps the permission rules of several nodes. */
export function describePermissionRules(name: string, open: OpenStore): void {
  const store = useStore(open)
  const rows = (): PermissionRows => {
    const known = store().permissionRules
    if (known === undefined) throw new Error('the store keeps no permission rules')
    return known
  }
  const [plain, whole]: readonly [ListedPermission, ListedPermission] = [
    { id: '00000001', tool: '*', verdict: 'deny' },
    { id: '00000002', tool: 'shell', verdict: 'allow', pattern: `echo '%_"; --`, exact: true, workspace: `/it's/here` },
  ]

  describe(`${name} store with permission rules`, () => {
    it('keeps rules with all their fields, in the order in which they were added', async () => {
      expect(await rows().rules()).toEqual({ ok: true, value: [] })
      for (const rule of [whole, plain]) expect(codeOf(await rows().addRule(rule))).toBe('ok')
      expect(await rows().rules()).toEqual({ ok: true, value: [whole, plain] })
    })

    it('keeps a rule once', async () => {
      for (const rule of [plain, whole, plain]) expect(codeOf(await rows().addRule(rule))).toBe('ok')
      expect(await rows().rules()).toEqual({ ok: true, value: [plain, whole] })
    })

    it('removes a rule by its id and returns it', async () => {
      for (const rule of [plain, whole]) await rows().addRule(rule)
      expect(await rows().removeRule(whole.id)).toEqual({ ok: true, value: whole })
      expect(await rows().removeRule(whole.id)).toEqual({ ok: true, value: null })
      expect(await rows().rules()).toEqual({ ok: true, value: [plain] })
    })

    it('refuses more than 1,000 rules, but not one that is there', async () => {
      for (let number = 0; number < 1000; number++)
        await rows().addRule({ ...plain, id: number.toString(16).padStart(8, '0') })
      expect(codeOf(await rows().addRule({ ...plain, id: 'ffffffff' }))).toBe('bad_request')
      expect(codeOf(await rows().addRule(plain))).toBe('ok')
    })
  })
}
