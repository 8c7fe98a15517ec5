import { createMemoryStore } from 'holdfast/store'
import { describeStore } from 'holdfast/testkit'
import { createAuditedStore } from './audited-store.ts'

// Called before each test. Returns an empty store; the suite closes it.
describeStore('audited', async () => createAuditedStore(createMemoryStore(), () => undefined))
