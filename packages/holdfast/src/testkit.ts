export * from '@holdfast/testkit'
