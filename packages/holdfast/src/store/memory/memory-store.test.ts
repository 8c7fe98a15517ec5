import { describeStore, describeTenants } from '@holdfast/testkit/contracts'
import { createMemoryStore } from './memory-store.ts'

describeStore('memory', async () => createMemoryStore())
describeTenants('memory', async () => createMemoryStore())
