import * as testkit from '@holdfast/testkit'
import * as contracts from '@holdfast/testkit/contracts'
import { describe, expect, it } from 'vitest'
import * as entry from './testkit.ts'

describe('holdfast/testkit', () => {
  it('exports everything that @holdfast/testkit exports, and the contract suites', () => {
    const { describeStore, describeBlobs, describeProvider, describeTool } = contracts
    const all = { ...testkit, describeStore, describeBlobs, describeProvider, describeTool }
    expect(Object.keys(entry).sort()).toEqual(Object.keys(all).sort())
    expect({ ...entry }).toEqual(all)
  })
})
