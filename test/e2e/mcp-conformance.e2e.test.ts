import { describe, expect, it } from 'vitest'
import { notApplicable, runConformance, runScenario, scenarios } from '../conformance/scenarios.ts'

describe('a session as a client of the Model Context Protocol', () => {
  it.concurrent.each([
    'tools_call',
    'elicitation-sep1034-client-defaults',
    'auth/metadata-default',
    'auth/scope-step-up',
  ])('passes the conformance scenario %s', async (scenario) => {
    const { code, printed } = await runScenario(scenario)
    expect([code, code === 0 ? '' : printed]).toEqual([0, ''])
  })

  it('knows every scenario for clients', async () => {
    const { printed } = await runConformance('list')
    const [, clients = ''] = printed.split('Client scenarios')
    const listed = [...clients.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name)
    expect(listed.toSorted()).toEqual([...scenarios, ...notApplicable].toSorted())
  })
})
